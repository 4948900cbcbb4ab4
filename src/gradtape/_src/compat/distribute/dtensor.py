"""`tf.experimental.dtensor` on one device: meshes and layouts of this one device."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ...core.errors import UnimplementedError

UNSHARDED = "unsharded"
MATCH = "match"


class Mesh(NamedTuple):
    """Devices in a grid with named axes: here one device, so each axis has size 1."""

    dim_names: list[str]
    sizes: list[int]
    name: str = ""

    @property
    def size(self) -> int:
        return prod(self.sizes)

    def shape(self) -> list[int]:
        return list(self.sizes)

    def dim_size(self, dim_name: str) -> int:
        if dim_name not in self.dim_names:
            raise ValueError(f"Mesh: there is no axis {dim_name!r}, only {self.dim_names}.")
        return self.sizes[self.dim_names.index(dim_name)]

    def device_type(self) -> str:
        return "CPU"

    def num_local_devices(self) -> int:
        return 1


class Layout:
    """How the axes of a tensor lie on those of a mesh: the name of an axis, or UNSHARDED."""

    def __init__(self, sharding_specs: Sequence[str], mesh: Mesh) -> None:
        for spec in sharding_specs:
            if spec not in (UNSHARDED, *mesh.dim_names):
                raise ValueError(
                    f"Layout: the mesh has no axis {spec!r}. An axis of a tensor lies on one of "
                    f"{mesh.dim_names}, or is tf.experimental.dtensor.UNSHARDED."
                )
        self.sharding_specs = list(sharding_specs)
        self.mesh = mesh

    @classmethod
    def replicated(cls, mesh: Mesh, rank: int) -> Layout:
        """A layout in which each device has the whole tensor."""
        return cls([UNSHARDED] * rank, mesh)

    @classmethod
    def batch_sharded(cls, mesh: Mesh, batch_dim: str, rank: int, axis: int = 0) -> Layout:
        """A layout in which one axis of the tensor lies on one of the mesh."""
        specs = [UNSHARDED] * rank
        specs[axis] = batch_dim
        return cls(specs, mesh)

    @property
    def rank(self) -> int:
        return len(self.sharding_specs)

    def num_shards(self, idx: int) -> int:
        spec = self.sharding_specs[idx]
        return 1 if spec == UNSHARDED else self.mesh.dim_size(spec)

    def is_fully_replicated(self) -> bool:
        return all(self.num_shards(i) == 1 for i in range(self.rank))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Layout)
            and self.sharding_specs == other.sharding_specs
            and self.mesh == other.mesh
        )

    def __hash__(self) -> int:
        return hash((tuple(self.sharding_specs), tuple(self.mesh.dim_names)))

    def __repr__(self) -> str:
        return f"Layout(sharding_specs={self.sharding_specs}, mesh={self.mesh})"


def create_mesh(
    mesh_dims: Any = None,
    mesh_name: str = "",
    devices: Any = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """A mesh of this process's device; `mesh_dims` are pairs of a name and the size, 1."""
    return _mesh("create_mesh", mesh_dims, mesh_name)


def create_distributed_mesh(
    mesh_dims: Any,
    mesh_name: str = "",
    local_devices: Any = None,
    device_type: str | None = None,
    use_xla_spmd: bool = False,
) -> Mesh:
    """A mesh of the devices of all processes: of the one device there is."""
    return _mesh("create_distributed_mesh", mesh_dims, mesh_name)


def _mesh(op: str, mesh_dims: Any, name: str) -> Mesh:
    pairs = list(mesh_dims.items()) if isinstance(mesh_dims, dict) else list(mesh_dims or [("", 1)])
    if prod(size for _, size in pairs) != 1:
        raise UnimplementedError(
            f"{op}: a mesh of {prod(size for _, size in pairs)} devices was asked for, and "
            "gradtape computes on one. Give each axis of the mesh the size 1."
        )
    return Mesh([each for each, _ in pairs], [int(size) for _, size in pairs], name)
