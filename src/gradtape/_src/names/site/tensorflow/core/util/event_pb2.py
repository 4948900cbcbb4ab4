"""Part of what TensorFlow has in `tensorflow.core.util.event_pb2`."""

from tensorboard.compat.proto.event_pb2 import Event
