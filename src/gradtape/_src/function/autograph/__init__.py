"""AutoGraph: Python's control flow in compiled functions.

`source` finds the definition of a function, `rewriting` turns its control flow into calls of
operators (by malt), `conversion` decides what is converted and calls it, `operators`, `loops` and
`iterated` are what converted code calls, and `public` is `tf.autograph`.
"""
