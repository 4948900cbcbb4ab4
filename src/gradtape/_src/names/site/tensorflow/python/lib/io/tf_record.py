"""Part of what TensorFlow has in `tensorflow.python.lib.io.tf_record`."""

from gradtape._src.compat.io.records import TFRecordOptions, TFRecordWriter, tf_record_iterator
