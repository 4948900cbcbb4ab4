"""The machinery. What users import is in the folders beside this one, which hold names only."""
