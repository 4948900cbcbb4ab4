"""`tf.distribute`, on one device: strategies of one replica."""
