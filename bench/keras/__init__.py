"""Keras: `fit`, its first epoch, a loop of one's own, and the import, on four backends."""
