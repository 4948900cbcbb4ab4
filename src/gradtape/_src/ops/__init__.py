"""The ops, grouped by mathematics; each declared whole in one place."""

from .. import engines as engines
