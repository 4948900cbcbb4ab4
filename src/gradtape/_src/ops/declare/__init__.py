"""How ops are declared: `op` for any op, `elementwise` and `reduction` for the families."""
