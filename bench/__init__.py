"""Benchmarks of gradtape beside its peers: `python -m bench overhead` from the repository root."""
