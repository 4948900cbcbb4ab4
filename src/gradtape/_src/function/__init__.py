"""Graph mode: `@function` and what belongs to it. JAX is imported at the first call.

A call goes through these, in this order:

- `api.py`: `function`, which finds or makes the trace for a call; `signature.py`: what of the
  arguments decides on the trace; `method.py`: a function as a method;
- `graph.py`: the trace of one Python call; `trace.py`: how it is made with JAX; `streams.py`: what
  it takes from iterators; `autograph/`: Python's control flow in it;
- `concrete.py`: a trace, compiled, and how it is called; `layout.py`: in what order arrays go in
  and out; `program.py`: a stretch of it, and its derivative; `cut.py`: the equations that are
  needed for some outputs; `call.py`: a call as a record of tapes.

Control flow in a trace: `control.py` makes nodes (`node.py`), a choice (`choice.py`) or a walk
(`walk.py`); `capacity.py` and `reruns.py` serve the gradients of loops without a bound.

Where sizes are not known: `by_need.py`, `by_value.py`, `uncompiled.py`; `sketch.py` and
`by_example.py` learn shapes. For the user: `settings.py`, `explain.py`, `lines.py`, `listing.py`,
`verify.py`, `export.py`, `memory.py`; `symbolic.py` is `tf.gradients` and `tf.hessians`.
"""
