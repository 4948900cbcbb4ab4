"""Optimizers: each declares one rule, the mathematics of a step; the rest is around it.

- `adam.py`, `sgd.py`, `adaptive.py`, `lion.py`: the optimizers, each with its rule;
- `rule.py`: a rule, what comes before it, and its two executions, in place and compiled;
- `in_place.py`: the kernel of a rule, which updates NumPy's arrays in place, in blocks;
- `base.py`: `Optimizer`, what all do around their rules; `options.py`: the arguments they share;
  `state.py`: its variables;
- `gradients.py`: gradients as rules take them; `schedules.py`: learning rates;
- `loss_scale.py`: an optimizer around an optimizer, for half precision;
- `config.py`, `registry.py`, `serialization.py`: optimizers as plain values, and by name.
"""
