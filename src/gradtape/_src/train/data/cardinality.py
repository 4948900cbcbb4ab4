"""The number of elements of a dataset that is infinite, or not known."""

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
