"""Arithmetic, functions of numbers, comparisons, reductions, order and counting."""
