"""Lookup tables: keys and values, numbers or text. They live in Python, in a dict.

Inside `@function` a table is asked whenever the program comes to the line, by a call of Python;
where keys or values are text that is not known then, the function runs as plain Python.
"""
