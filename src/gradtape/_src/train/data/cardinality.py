"""How many elements a dataset has, where that is no number."""

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
