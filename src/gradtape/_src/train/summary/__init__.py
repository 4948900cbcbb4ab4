"""Summaries for TensorBoard, and the files they are written to."""
