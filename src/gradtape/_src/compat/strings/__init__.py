"""Ops on text. A tensor of text is a NumPy array of `bytes`; it never becomes part of a program.

Inside `@function` text is known while the function is traced. What would make text of numbers that
are not known then raises DynamicSizeError, so that the function runs as plain Python.
"""
