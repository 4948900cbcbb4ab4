"""Event files, read by the real tensorboard package."""

from pathlib import Path

from tensorboard.backend.event_processing import event_file_loader
from tensorboard.compat.proto import event_pb2
from tensorboard.util import tensor_util


def only_file(folder):
    (path,) = Path(folder).iterdir()
    return path


def events(folder):
    """The events after the header, as messages, checksums verified by the loader."""
    header, *rest = read(only_file(folder))
    assert header.file_version == "brain.Event:2"
    return rest


def read(path):
    records = event_file_loader.RawEventFileLoader(str(path)).Load()
    return [event_pb2.Event.FromString(record) for record in records]


def values(folder):
    """(step, tag, value) of each event."""
    return [
        (event.step, value.tag, tensor_util.make_ndarray(value.tensor)[()])
        for event in events(folder)
        for value in event.summary.value
    ]
