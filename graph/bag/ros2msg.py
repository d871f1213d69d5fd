"""From a bag's own ros2msg schema to the numpy dtype of its messages: a bag is read without the code that wrote it."""

import re
from functools import cache

import numpy as np

from graph.bag.scan import Schema
from graph.errors import InputError
from msgs import cdr
from msgs.layout import alignment_of

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
    dtype = _record("", definitions, where, 0)
    try:
        cdr.check(schema.name, dtype)
    except TypeError as error:
        raise InputError(f"{where}: {error}") from None
    return dtype


def _short(name: str) -> str:
    """pkg/msg/Type and pkg/Type are one type."""
    package, _, last = name.rpartition("/")
    return f"{package.removesuffix('/msg')}/{last}"


def _record(name: str, definitions: dict[str, str], where: str, depth: int) -> np.dtype:
    if depth > DEEPEST:
        raise InputError(f"{where}: {name} is nested more than {DEEPEST} deep")
    names, formats, offsets, position = [], [], [], 0
    for line in definitions[name].splitlines():
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = FIELD.match(text)
        if match is None:
            raise InputError(f"{where}: '{text[:80]}' is no field of fixed size")
        kind, count, field = match.groups()
        member = _member(kind, definitions, where, depth)
        if count is not None:
            if int(count) * member.itemsize > LARGEST:
                raise InputError(f"{where}: field {field} has {count} elements, too many to believe")
            member = np.dtype((member, (int(count),)))
        if field in names:
            raise InputError(f"{where}: field {field} occurs twice")
        position += -position % alignment_of(member)
        names.append(field)
        formats.append(member)
        offsets.append(position)
        position += member.itemsize
    if not names:
        raise InputError(f"{where}: {name or 'the message'} has no fields")
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": position})


def _member(kind: str, definitions: dict[str, str], where: str, depth: int) -> np.dtype:
    if kind in PRIMITIVES:
        return np.dtype(PRIMITIVES[kind])
    name = _short(kind)
    if name not in definitions:
        raise InputError(f"{where}: type {kind} is neither a number nor defined in the schema")
    return _record(name, definitions, where, depth + 1)
