"""The heart: tensors, ops, dispatch, the chain rule. It knows no op and no array library by name.

Read `backward.py` first: it is the chain rule. Then `dispatch.py`: how an op call becomes a record;
`recorder.py`: what is told of it; `late.py`: what the core calls of the layers above.
"""
