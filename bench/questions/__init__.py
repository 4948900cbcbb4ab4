"""One file for each question, with the programs of all the systems side by side.

A program is given its system's module and uses only that module's public API. gradtape and
TensorFlow share one program: it is the same code with another import.
"""
