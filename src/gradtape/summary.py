"""TensorFlow's `tf.summary`: numbers, histograms, images and texts for TensorBoard."""

from ._missing import missing_name
from . import _summary_experimental as experimental
from .train.summaries import SummaryWriter as SummaryWriter
from .train.summaries import audio as audio
from .train.summaries import create_file_writer as create_file_writer
from .train.summaries import create_noop_writer as create_noop_writer
from .train.summaries import flush as flush
from .train.summaries import histogram as histogram
from .train.summaries import image as image
from .train.summaries import record_if as record_if
from .train.summaries import scalar as scalar
from .train.summaries import should_record_summaries as should_record_summaries
from .train.summaries import text as text
from .train.summaries import write as write


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
