"""dtype_of(schema of a message) is the message's own record; whatever a schema says gives a dtype or an InputError."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.bag.ros2msg import dtype_of
from graph.bag.scan import Schema
from graph.errors import InputError
from msgs import catalog
from msgs.layout import record_dtype
from msgs.message import REGISTRY
from msgs.schema import name_of, text_of

assert catalog.message_named("holeshot_msgs/msg/ImuSample") is not None
OWN = [cls for cls in REGISTRY.values() if cls.__module__.startswith("msgs.")]


def schema_of(text: str) -> Schema:
    return Schema("sample/msg/Sample", "ros2msg", text.encode())


@pytest.mark.parametrize("cls", OWN, ids=lambda cls: cls.__name__)
def test_a_messages_schema_gives_its_record(cls: type) -> None:
    assert dtype_of(Schema(name_of(cls), "ros2msg", text_of(cls).encode())) == record_dtype(cls)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("string name\n", "schema sample/msg/Sample: type string is neither a number nor defined in the schema"),
        ("float64[] values\n", "schema sample/msg/Sample: 'float64[] values' is no field of fixed size"),
        ("float64 x\nfloat64 x\n", "schema sample/msg/Sample: field x occurs twice"),
        ("uint8[99999999] x\n", "schema sample/msg/Sample: 99999999 bytes up to field x are too many to believe"),
        ("# nothing\n", "schema sample/msg/Sample: the message has no fields"),
    ],
)
def test_what_is_not_of_fixed_size_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        dtype_of(schema_of(text))
    assert str(caught.value) == message


def test_a_type_within_itself_is_refused() -> None:
    with pytest.raises(InputError, match="nested more than 16 deep"):
        dtype_of(schema_of("a/A x\n===\nMSG: a/A\na/A y\n"))


TEXT = text_of(next(cls for cls in OWN if cls.__name__ == "TruthState"))


@given(st.integers(0, len(TEXT)), st.integers(0, 30), st.text(max_size=5) | st.sampled_from(["[", "]", "=", "\n", "/"]))
def test_any_changed_text(start: int, length: int, patch: str) -> None:
    with contextlib.suppress(InputError):
        assert dtype_of(schema_of(TEXT[:start] + patch + TEXT[start + length :])).itemsize > 0


def test_types_within_types_are_refused_before_they_are_as_many_as_they_say() -> None:
    levels = [f"MSG: a/L{n}\n" + "".join(f"a/L{n + 1} f{k}\n" for k in range(10)) for n in range(15)]
    text = "a/L0 x\n" + "".join(f"===\n{level}" for level in [*levels, "MSG: a/L15\nuint8 last\n"])
    with pytest.raises(InputError, match="too many to believe"):
        dtype_of(schema_of(text))
