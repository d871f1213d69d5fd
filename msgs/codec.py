"""Generated source of the kernels between a numpy record and its NamedTuple value: load, store and valid.

The text is plain enough to read (``holeshot graph NAME --source``), is compiled into each node's entry, and runs
interpreted with the same result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from functools import cache
from typing import Any

import numpy as np

from blocks.kernel import inlined
from blocks.math import Quat
from msgs.layout import Layout, fields_of
from msgs.units import NS_PER_S

UNIT_TOLERANCE = 1e-6  # on |q|^2 - 1; max(1e-6, 4 epsilon), which is 1e-6 for float64 and float32


@inlined
def is_unit(q: Quat) -> bool:
    """Whether an attitude's squared norm is 1 within ``UNIT_TOLERANCE``."""
    excess = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1.0
    return -UNIT_TOLERANCE <= excess <= UNIT_TOLERANCE


class Namespace:
    """Names for the classes a generated module mentions: two classes of one name get different ones, and none gets a
    name that the module uses otherwise.
    """

    def __init__(self, taken: Collection[str] = ()) -> None:
        self.values: dict[str, Any] = {}
        self._taken = frozenset(taken)

    def name(self, value: Any, wanted: str) -> str:
        """The name that stands for ``value``, ``wanted`` if it is free."""
        candidate, number = wanted, 1
        while candidate in self._taken or self.values.get(candidate, value) is not value:
            number += 1
            candidate = f"{wanted}_{number}"
        self.values[candidate] = value
        return candidate


def load_source(cls: type, record: str, names: Namespace) -> str:
    """The expression that reads NamedTuple ``cls`` from the record expression ``record``."""
    fields = fields_of(cls)
    arguments = ", ".join(f"{name}={_load(name, layout, record, names)}" for name, layout in fields.items())
    return f"{names.name(cls, cls.__name__)}({arguments})"


def _load(name: str, layout: Layout, record: str, names: Namespace) -> str:
    if layout.kind == "stamp":
        stamp, int64 = f"{record}['header']['stamp']", names.name(np.int64, "int64")
        return f"{int64}({stamp}['sec']) * {NS_PER_S} + {int64}({stamp}['nanosec'])"
    return _load_item(layout, f"{record}['{name}']", names)


def _load_item(layout: Layout, item: str, names: Namespace) -> str:
    if layout.kind == "struct":
        assert layout.struct is not None
        return load_source(layout.struct, item, names)
    if layout.kind == "array":
        assert layout.element is not None
        items = [_load_item(layout.element, f"{item}[{index}]", names) for index in range(layout.count)]
        return f"({', '.join(items)},)"
    if layout.kind == "scalar" and layout.dtype.kind in "u" and layout.dtype.itemsize < 8:
        return f"{names.name(np.int64, 'int64')}({item})"
    return item


def store_source(cls: type, record: str, value: str) -> list[str]:
    """The statements that write the value expression ``value`` of NamedTuple ``cls`` into ``record``."""
    lines: list[str] = []
    for name, layout in fields_of(cls).items():
        if layout.kind == "stamp":
            lines.append(f"{record}['header']['stamp']['sec'] = {value}.{name} // {NS_PER_S}")
            lines.append(f"{record}['header']['stamp']['nanosec'] = {value}.{name} % {NS_PER_S}")
        elif layout.kind != "table":
            lines += _store_item(layout, f"{record}['{name}']", f"{value}.{name}")
    return lines


def _store_item(layout: Layout, item: str, value: str) -> list[str]:
    if layout.kind == "struct":
        assert layout.struct is not None
        return store_source(layout.struct, item, value)
    if layout.kind == "array":
        assert layout.element is not None
        element = layout.element
        return [
            line
            for index in range(layout.count)
            for line in _store_item(element, f"{item}[{index}]", f"{value}[{index}]")
        ]
    return [f"{item} = {value}"]


def valid_source(cls: type, value: str) -> list[str]:
    """Conditions that hold for a valid value: finite, unit attitudes, declared ranges."""
    conditions: list[str] = []
    for name, layout in fields_of(cls).items():
        conditions += _valid_item(layout, f"{value}.{name}")
    return conditions


def _valid_item(layout: Layout, value: str) -> list[str]:
    if layout.kind == "struct":
        assert layout.struct is not None
        unit = [f"is_unit({value})"] if layout.struct is Quat else []
        return valid_source(layout.struct, value) + unit
    if layout.kind == "array":
        assert layout.element is not None
        return [c for index in range(layout.count) for c in _valid_item(layout.element, f"{value}[{index}]")]
    if layout.range is not None:
        low, high = (repr(bound).replace("inf", "INF") for bound in layout.range)
        return [f"isfinite({value})", f"{low} <= {value} <= {high}"]
    if layout.kind == "scalar" and layout.dtype.kind == "f":
        return [f"isfinite({value})"]
    return []


@cache
def valid_kernel(cls: type) -> Callable[[Any], bool]:
    """The kernel ``valid(message)`` of a message class: finite, unit attitude, ranges."""
    conditions = " and ".join(f"({c})" for c in valid_source(cls, "m")) or "True"
    namespace: dict[str, Any] = {"__name__": __name__, "isfinite": math.isfinite, "is_unit": is_unit, "INF": math.inf}
    exec(f"def valid_{cls.__name__}(m):\n    return {conditions}\n", namespace)
    return inlined(namespace[f"valid_{cls.__name__}"])
