"""Optimizers: rules for a step, what is done around them, learning rates, loss scaling."""
