"""Differentiation as the user meets it: tapes and variables."""
