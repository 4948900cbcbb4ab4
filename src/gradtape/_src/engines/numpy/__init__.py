"""The default engine: NumPy, and SciPy for what NumPy does not have."""
