"""From a bag's own ros2msg schema to the numpy dtype of its messages: a bag is read without the code that wrote it."""

import re
from functools import cache
from typing import NamedTuple

import numpy as np

from graph.bag.scan import Schema
from graph.errors import InputError
from msgs import cdr

PRIMITIVES = {
    "bool": "?", "byte": "u1", "char": "u1", "float32": "<f4", "float64": "<f8",
    "int8": "i1", "int16": "<i2", "int32": "<i4", "int64": "<i8",
    "uint8": "u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8",
}  # fmt: skip
RULE = re.compile(r"^=+\s*$", re.MULTILINE)
FIELD = re.compile(r"^([A-Za-z][\w/]*)(?:\[(\d+)\])?\s+([A-Za-z]\w*)\s*(?:#.*)?$")
DEEPEST = 16
LARGEST = 1 << 24


@cache
def dtype_of(schema: Schema) -> np.dtype:
    """The record behind the CDR header of a message of ``schema``, every member at its CDR offset.

    Raises InputError when the schema is not ros2msg, or when its messages have no fixed layout.
    """
    where = f"schema {schema.name or '(none)'}"
    if schema.encoding != "ros2msg":
        raise InputError(f"{where}: is of encoding '{schema.encoding}', only ros2msg is read")
    main, *others = RULE.split(schema.text)
    definitions = {"": main}
    for part in others:
        head, _, body = part.strip().partition("\n")
        definitions[_short(head.removeprefix("MSG:").strip())] = body
    dtype = _Types(definitions, where).record("").dtype
    try:
        cdr.check(schema.name, dtype)
    except TypeError as error:
        raise InputError(f"{where}: {error}") from None
    return dtype


def _short(name: str) -> str:
    """pkg/msg/Type and pkg/Type are one type."""
    package, _, last = name.rpartition("/")
    return f"{package.removesuffix('/msg')}/{last}"


class _Member(NamedTuple):
    """What a field holds."""

    dtype: np.dtype
    alignment: int  # bytes


class _Types:
    """The types that a schema defines, each laid out once."""

    def __init__(self, definitions: dict[str, str], where: str) -> None:
        self._definitions = definitions
        self._where = where
        self._known: dict[str, _Member] = {}

    def record(self, name: str, depth: int = 0) -> _Member:
        """The record of a type that is defined in the schema."""
        if depth > DEEPEST:
            raise InputError(f"{self._where}: {name} is nested more than {DEEPEST} deep")
        if name not in self._known:
            self._known[name] = self._laid_out(name, depth)
        return self._known[name]

    def _laid_out(self, name: str, depth: int) -> _Member:
        where = self._where
        names, formats, offsets, position, widest = [], [], [], 0, 1
        for line in self._definitions[name].splitlines():
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            match = FIELD.match(text)
            if match is None:
                raise InputError(f"{where}: '{text[:80]}' is no field of fixed size")
            kind, count, field = match.groups()
            member, alignment = self._member(kind, depth)
            if field in names:
                raise InputError(f"{where}: field {field} occurs twice")
            widest = max(widest, alignment)
            position += -position % alignment
            offsets.append(position)
            position += member.itemsize * int(count or 1)
            if position > LARGEST:
                raise InputError(f"{where}: {position} bytes up to field {field} are too many to believe")
            names.append(field)
            formats.append(member if count is None else np.dtype((member, (int(count),))))
        if not names:
            raise InputError(f"{where}: {name or 'the message'} has no fields")
        dtype = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": position})
        return _Member(dtype, widest)

    def _member(self, kind: str, depth: int) -> _Member:
        if kind in PRIMITIVES:
            dtype = np.dtype(PRIMITIVES[kind])
            return _Member(dtype, dtype.itemsize)
        name = _short(kind)
        if name not in self._definitions:
            raise InputError(f"{self._where}: type {kind} is neither a number nor defined in the schema")
        return self.record(name, depth + 1)
