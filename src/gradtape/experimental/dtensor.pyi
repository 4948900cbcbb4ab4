from .._src.compat.distribute.dtensor import (
    MATCH as MATCH,
    UNSHARDED as UNSHARDED,
    Layout as Layout,
    Mesh as Mesh,
    create_distributed_mesh as create_distributed_mesh,
    create_mesh as create_mesh,
)
