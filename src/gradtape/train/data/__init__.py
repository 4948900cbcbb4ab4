"""Datasets: streams of elements, with TensorFlow's names and semantics."""
