"""A message declaration is its wire format: what we write, tools we did not write read back."""

import importlib
import math
import pkgutil
import struct
from functools import cache
from typing import Annotated, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

import msgs
from blocks.math import Quat, Vec3
from msgs import cdr, schema
from msgs.codec import Namespace, load_source, store_source, valid_kernel
from msgs.layout import Layout, fields_of, record_dtype
from msgs.message import REGISTRY, message
from msgs.record import fill, read
from msgs.rotor_command import RotorCommand
from msgs.types import Range, Stamp, UInt8, UnitInterval

for module in pkgutil.iter_modules(msgs.__path__):
    importlib.import_module(f"msgs.{module.name}")
MESSAGES = [cls for cls in REGISTRY.values() if cls.__module__.startswith("msgs.")]


def values_of(cls: type) -> st.SearchStrategy:
    """Any value of a message, every bit pattern of its numbers included."""
    return st.builds(cls, *(_value(layout) for layout in fields_of(cls).values()))


def _value(layout: Layout) -> st.SearchStrategy:
    if layout.kind == "stamp":
        return st.integers(0, 2**31 * 10**9 - 1)
    if layout.struct is not None:
        return values_of(layout.struct)
    if layout.element is not None:
        return st.tuples(*[_value(layout.element)] * layout.count)
    if layout.dtype.kind == "f":
        return st.floats()
    if layout.dtype.kind == "b":
        return st.booleans()
    limits = np.iinfo(layout.dtype)
    return st.integers(int(limits.min), int(limits.max))


def plain(value: object) -> object:
    """Nested tuples, floats as their bits so that NaN equals itself."""
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    return struct.pack("<d", value) if isinstance(value, float) else value


def record_of(cls: type, value: object) -> np.ndarray:
    record = np.zeros(1, record_dtype(cls))
    fill(record[0], cls, value)
    return record


@pytest.mark.parametrize("cls", MESSAGES, ids=lambda cls: cls.__name__)
@given(data=st.data())
def test_record_and_value_hold_the_same(cls, data):
    value = data.draw(values_of(cls))
    assert plain(read(record_of(cls, value)[0], cls)) == plain(value)


@pytest.mark.parametrize("cls", MESSAGES, ids=lambda cls: cls.__name__)
@given(data=st.data())
def test_the_generated_codec_agrees_with_the_plain_one(cls, data):
    value = data.draw(values_of(cls))
    record, again = record_of(cls, value), np.zeros(1, record_dtype(cls))
    names = Namespace()
    source = f"def copy(source, target):\n    m = {load_source(cls, 'source', names)}\n"
    source += "".join(f"    {line}\n" for line in store_source(cls, "target", "m"))
    exec(source, names.values)
    names.values["copy"](record[0], again[0])
    assert again.tobytes() == record.tobytes()


@cache
def rosbags_store():
    """What rosbags makes of the schemas of all messages."""
    store = get_typestore(Stores.EMPTY)
    for cls in MESSAGES:
        store.register(get_types_from_msg(schema.text_of(cls), schema.name_of(cls)))
    return store


@pytest.mark.parametrize("cls", MESSAGES, ids=lambda cls: cls.__name__)
@given(data=st.data())
def test_rosbags_reads_our_bytes_and_writes_the_same(cls, data):
    store, name = rosbags_store(), schema.name_of(cls)
    payload = cdr.encode(record_of(cls, data.draw(values_of(cls))))
    decoded = store.deserialize_cdr(payload, name)
    assert bytes(store.serialize_cdr(decoded, name)) == payload


@pytest.mark.parametrize("cls", MESSAGES, ids=lambda cls: cls.__name__)
def test_every_field_names_its_unit_or_meaning(cls):
    comments = schema.field_comments(cls)
    assert [name for name in cls._fields if name not in comments] in (["stamp"], ["stamp", "success"])


def test_decode_refuses_what_is_no_message_of_the_type():
    dtype = record_dtype(RotorCommand)
    payload = cdr.encode(np.zeros(1, dtype))
    assert cdr.decode(payload, dtype).dtype == dtype
    for bad in (b"", payload[:-1], payload + b"\0", b"\0" + payload[1:][:3] + payload[3:]):
        with pytest.raises(ValueError, match="44 bytes expected"):
            cdr.decode(bad, dtype)


class Tail(NamedTuple):
    """Ends in its smallest member."""

    value: float
    flag: bool


class Head(NamedTuple):
    """Begins with its smallest member."""

    flag: bool
    value: float


def test_a_nested_struct_that_ends_small_is_refused():
    class Row(NamedTuple):
        stamp: Stamp
        rows: tuple[Tail, Tail]

    with pytest.raises(TypeError, match=r"Row: field rows\[1\]\.value lies at byte 17 .* at byte 24 in CDR"):
        message(Row)


def test_a_nested_struct_that_begins_small_is_refused():
    class Row(NamedTuple):
        stamp: Stamp
        flag: bool
        head: Head

    with pytest.raises(TypeError, match=r"Row: field head\.flag lies at byte 16 .* at byte 9 in CDR"):
        message(Row)


def test_a_message_begins_with_its_stamp():
    class Unstamped(NamedTuple):
        value: float

    with pytest.raises(TypeError, match="the first field must be `stamp: Stamp`"):
        message(Unstamped)


def test_a_field_without_a_wire_form_is_named():
    class Text(NamedTuple):
        stamp: Stamp
        text: str

    with pytest.raises(TypeError, match=r"Text\.text: <class 'str'> has no wire form"):
        message(Text)


def test_a_second_message_of_one_name_is_refused():
    class TruthState(NamedTuple):
        stamp: Stamp

    with pytest.raises(TypeError, match=r"message TruthState of tests.*: msgs\.truth_state declares one of that name"):
        message(TruthState)


def test_a_record_has_one_stamp():
    class Twice(NamedTuple):
        stamp: Stamp
        begun: Stamp

    with pytest.raises(TypeError, match=r"Twice\.begun: stamp is its Stamp already"):
        message(Twice)


class Level(NamedTuple):
    stamp: Stamp
    inflow: UnitInterval
    kind: Annotated[UInt8, Range(0, 5)]


def test_a_range_holds_of_a_number_of_any_type():
    assert record_dtype(Level)["kind"] == np.uint8
    valid = valid_kernel(Level)
    assert valid(Level(0, 0.5, 5))
    assert not valid(Level(0, 1.5, 5))
    assert not valid(Level(0, 0.5, 6))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0])
def test_valid_checks_finiteness_and_ranges(bad):
    valid = valid_kernel(RotorCommand)
    assert valid(RotorCommand(0, (0.0, 1.0, 2.0, 3.0)))
    assert not valid(RotorCommand(0, (0.0, 1.0, bad, 3.0)))


def test_valid_checks_that_an_attitude_is_unit():
    truth = REGISTRY["TruthState"]
    zero, still = Vec3(0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)
    valid = valid_kernel(truth)
    assert valid(truth(0, zero, zero, Quat(1.0, 0.0, 0.0, 0.0), zero, still, 0.0, True))
    assert not valid(truth(0, zero, zero, Quat(1.0, 0.001, 0.0, 0.1), zero, still, 0.0, True))
