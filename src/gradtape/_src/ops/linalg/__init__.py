"""Products, systems, factorisations, norms and functions of matrices; linear operators."""
