"""Training: modules, optimizers, datasets, checkpoints, summaries and what watches over it."""
