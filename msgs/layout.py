"""How a NamedTuple declaration lies in memory: its fields as a tree, and the numpy dtype of its record."""

from __future__ import annotations

import types as python_types
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from msgs.types import Range

STAMP_DTYPE = np.dtype([("sec", "<i4"), ("nanosec", "<u4")])
HEADER_DTYPE = np.dtype([("stamp", STAMP_DTYPE)])


@dataclass(frozen=True)
class Layout:
    """One field's type: a scalar, the stamp, a nested NamedTuple, a fixed array of one of those, or a table."""

    kind: str  # "scalar", "stamp", "struct", "array" or "table"
    dtype: np.dtype[Any]
    struct: type | None = None
    element: Layout | None = None
    count: int = 0
    range: Range | None = None


@cache
def fields_of(cls: type) -> dict[str, Layout]:
    """The fields of NamedTuple ``cls`` in order. Raises TypeError naming the field whose type has no wire form."""
    hints = get_type_hints(cls, include_extras=True)
    names: tuple[str, ...] = getattr(cls, "_fields", ())
    layouts = {}
    for name in names:
        try:
            layouts[name] = layout_of(hints[name])
        except TypeError as error:
            raise TypeError(f"{cls.__module__}.{cls.__qualname__}.{name}: {error}") from None
    stamps = [name for name, layout in layouts.items() if layout.kind == "stamp"]
    if len(stamps) > 1:
        raise TypeError(f"{cls.__module__}.{cls.__qualname__}.{stamps[1]}: {stamps[0]} is its Stamp already; use int")
    return layouts


def layout_of(annotation: Any) -> Layout:
    """The layout of one annotation; raises TypeError when it has no wire form."""
    if get_origin(annotation) is Annotated:
        base, *extras = get_args(annotation)
        return _annotated(base, extras)
    scalars = {float: "<f8", int: "<i8", bool: "?"}
    if annotation in scalars:
        return Layout("scalar", np.dtype(scalars[annotation]))
    if get_origin(annotation) is tuple:
        return _array(get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        return Layout("struct", record_dtype(annotation), struct=annotation)
    if get_origin(annotation) in (Union, python_types.UnionType):
        raise TypeError("a union has no fixed layout; use Maybe in a node's Out, or a count beside a fixed array")
    raise TypeError(
        f"{annotation!r} has no wire form; use float, int, bool, UInt8..UInt64, a NamedTuple, or a fixed tuple"
    )


def _annotated(base: Any, extras: list[Any]) -> Layout:
    layout = _plain(base, [extra for extra in extras if not isinstance(extra, Range)])
    ranges = [extra for extra in extras if isinstance(extra, Range)]
    if not ranges:
        return layout
    if layout.kind != "scalar" or len(ranges) > 1:
        raise TypeError("a range is of one number, and there is one")
    return replace(layout, range=ranges[0])


def _plain(base: Any, extras: list[Any]) -> Layout:
    for extra in extras:
        if extra == "stamp":
            return Layout("stamp", HEADER_DTYPE)
        if base is np.ndarray and isinstance(extra, tuple):
            return Layout("table", np.dtype(("<f8", extra)))
        if isinstance(extra, int) and get_origin(base) is tuple:
            element = layout_of(get_args(base)[0])
            return Layout("array", np.dtype((element.dtype, (extra,))), element=element, count=extra)
        if isinstance(extra, type) and issubclass(extra, np.generic):
            return Layout("scalar", np.dtype(extra).newbyteorder("<"))
    return layout_of(base)


def _array(arguments: tuple[Any, ...]) -> Layout:
    if not arguments or Ellipsis in arguments:
        raise TypeError("a tuple of open length has no fixed layout; write Annotated[tuple[X, ...], n]")
    if any(argument != arguments[0] for argument in arguments):
        raise TypeError("a tuple of different types has no array layout; declare a NamedTuple")
    element = layout_of(arguments[0])
    return Layout("array", np.dtype((element.dtype, (len(arguments),))), element=element, count=len(arguments))


@cache
def record_dtype(cls: type) -> np.dtype[Any]:
    """The record of NamedTuple ``cls``: members at their own alignment, no padding behind the last one."""
    fields = fields_of(cls)
    offsets, position = [], 0
    for layout in fields.values():
        alignment = layout.dtype.alignment if layout.dtype.names is None else alignment_of(layout.dtype)
        if layout.dtype.subdtype is not None:
            alignment = alignment_of(layout.dtype.subdtype[0])
        position += -position % alignment
        offsets.append(position)
        position += layout.dtype.itemsize
    names = ["header" if layout.kind == "stamp" else name for name, layout in fields.items()]
    formats = [layout.dtype for layout in fields.values()]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": max(position, 1)})


def alignment_of(dtype: np.dtype[Any]) -> int:
    """The largest alignment of any primitive inside ``dtype``, bytes."""
    return max((kind.itemsize for _, _, kind in primitives(dtype)), default=1)


def primitives(dtype: np.dtype[Any], path: str = "", origin: int = 0) -> Iterator[tuple[str, int, np.dtype[Any]]]:
    """Every primitive inside ``dtype`` in wire order, as (path, such as ``speeds[2].x``, offset, dtype)."""
    if dtype.subdtype is not None:
        element, shape = dtype.subdtype
        for index in range(int(np.prod(shape))):
            yield from primitives(element, f"{path}[{index}]", origin + index * element.itemsize)
    elif dtype.names is not None:
        assert dtype.fields is not None
        for name in dtype.names:
            member, offset = dtype.fields[name][:2]
            yield from primitives(member, f"{path}.{name}" if path else name, origin + offset)
    else:
        yield path, origin, dtype
