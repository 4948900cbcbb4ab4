"""Checkpoints: the variables of a program in files, and back."""
