from .._src.ops.nn.dropout import (
    general_dropout as general_dropout,
    stateless_dropout as stateless_dropout,
)
