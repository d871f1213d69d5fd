"""Plain-Python conversion between NamedTuple values and numpy records, for setting up and looking at a run."""

from typing import Any

import numpy as np

from msgs.layout import Layout, fields_of
from msgs.units import NS_PER_S


def fill(record: Any, cls: type, value: Any) -> None:
    """Write ``value``, a NamedTuple ``cls``, into ``record``. Raises ValueError when a table is of another shape."""
    for name, layout in fields_of(cls).items():
        item = getattr(value, name)
        if layout.kind == "stamp":
            record["header"]["stamp"] = divmod(int(item), NS_PER_S)
        else:
            _fill_item(record, name, layout, item)


def _fill_item(record: Any, key: Any, layout: Layout, item: Any) -> None:
    if layout.kind == "struct":
        assert layout.struct is not None
        fill(record[key], layout.struct, item)
    elif layout.kind == "array":
        assert layout.element is not None
        if len(item) != layout.count:
            raise ValueError(f"{key}: {layout.count} elements expected, got {len(item)}")
        for index in range(layout.count):
            _fill_item(record[key], index, layout.element, item[index])
    elif layout.kind == "table":
        if np.shape(item) != layout.dtype.shape:
            raise ValueError(f"{key}: a table of shape {layout.dtype.shape} expected, got {np.shape(item)}")
        record[key][...] = item
    else:
        record[key] = item


def read(record: Any, cls: type) -> Any:
    """The NamedTuple ``cls`` that ``record`` holds, in plain Python numbers."""
    return cls(*(_read(record, name, layout) for name, layout in fields_of(cls).items()))


def _read(record: Any, name: str, layout: Layout) -> Any:
    if layout.kind == "stamp":
        stamp = record["header"]["stamp"]
        return int(stamp["sec"]) * NS_PER_S + int(stamp["nanosec"])
    return _read_item(record[name], layout)


def _read_item(item: Any, layout: Layout) -> Any:
    if layout.kind == "struct":
        assert layout.struct is not None
        return read(item, layout.struct)
    if layout.kind == "array":
        assert layout.element is not None
        return tuple(_read_item(item[index], layout.element) for index in range(layout.count))
    return item.copy() if layout.kind == "table" else item.item()
