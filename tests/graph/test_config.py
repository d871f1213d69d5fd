"""A configuration file is read strictly, and a mistake is reported with file, key, value and what is valid."""

import contextlib
from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, model_validator

from graph.config import Config, Problem, dump_yaml, load_yaml, parse, parse_yaml
from graph.errors import InputError


class Wing(Config):
    span_m: Annotated[float, Field(gt=0)]
    flaps: int = 2


class Jet(Config):
    kind: Literal["jet"]
    thrust_n: float


class Propeller(Config):
    kind: Literal["propeller"]
    blades: int


class Plane(Config):
    name: Annotated[str, Field(min_length=1)] = Field(description="name of the plane")
    wing: Wing
    retractable: bool = False
    centre_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    engines: tuple[Annotated[Jet | Propeller, Field(discriminator="kind")], ...] = ()
    spare: Wing | None = None
    masses_kg: dict[str, float] = Field(default={})

    @model_validator(mode="after")
    def _check(self) -> "Plane":
        if self.name == "brick":
            raise Problem("name", "is 'brick', which does not fly")
        return self


GOOD = {"name": "a", "wing": {"span_m": 3}}


def message(data: object) -> str:
    with pytest.raises(InputError) as caught:
        parse(Plane, data, "plane.yaml")
    return str(caught.value)


def test_a_valid_mapping_becomes_an_immutable_model() -> None:
    plane = parse(Plane, {**GOOD, "engines": [{"kind": "jet", "thrust_n": 5}]}, "plane.yaml")
    assert plane.wing.span_m == 3.0
    assert plane.engines == (Jet(kind="jet", thrust_n=5.0),)
    with pytest.raises(ValueError, match="frozen"):
        plane.name = "b"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"colour": 1},
            "plane.yaml: colour: unknown key "
            "(valid keys: centre_m, engines, masses_kg, name, retractable, spare, wing)",
        ),
        (
            {"wing": {"span_m": 3, "flap": 1}},
            "plane.yaml: wing.flap: unknown key; did you mean flaps? (valid keys: flaps, span_m)",
        ),
        (
            {"spare": {"span_m": 3, "spam_m": 1}},
            "plane.yaml: spare.spam_m: unknown key; did you mean span_m? (valid keys: flaps, span_m)",
        ),
        ({"wing": {"span_m": -3}}, "plane.yaml: wing.span_m: is -3; must be greater than 0"),
        ({"wing": {"span_m": "3"}}, "plane.yaml: wing.span_m: is the text '3'; must be a number"),
        ({"wing": {"span_m": True}}, "plane.yaml: wing.span_m: is true; must be a number"),
        ({"wing": {"span_m": None}}, "plane.yaml: wing.span_m: is nothing; must be a number"),
        ({"wing": {"span_m": float("nan")}}, "plane.yaml: wing.span_m: is nan; must be a finite number"),
        ({"wing": {"span_m": float("inf")}}, "plane.yaml: wing.span_m: is inf; must be a finite number"),
        ({"wing": {"span_m": 3, "flaps": 2.0}}, "plane.yaml: wing.flaps: is 2.0; must be a whole number"),
        ({"wing": 3}, "plane.yaml: wing: is 3; must be a mapping of keys"),
        ({"name": 3}, "plane.yaml: name: is 3; must be a text"),
        ({"name": ""}, "plane.yaml: name: must not be empty"),
        ({"name": "brick"}, "plane.yaml: name: is 'brick', which does not fly"),
        ({"retractable": 1}, "plane.yaml: retractable: is 1; must be true or false"),
        ({"centre_m": 3}, "plane.yaml: centre_m: is 3; must be a list"),
        ({"centre_m": [1, 2]}, "plane.yaml: centre_m[2]: missing: the list has too few entries"),
        ({"centre_m": [1, 2, 3, 4]}, "plane.yaml: centre_m: has 4 entries; must have at most 3"),
        ({"centre_m": [1, "x", 3]}, "plane.yaml: centre_m[1]: is the text 'x'; must be a number"),
        ({"engines": [{"blades": 3}]}, "plane.yaml: engines[0]: kind is missing (valid: jet, propeller)"),
        (
            {"engines": [{"kind": "jat"}]},
            "plane.yaml: engines[0]: unknown kind 'jat'; did you mean jet? (valid: jet, propeller)",
        ),
        (
            {"engines": [{"kind": "jet", "thrust_n": 1, "trust": 1}]},
            "plane.yaml: engines[0].trust: unknown key; did you mean thrust_n? (valid keys: kind, thrust_n)",
        ),
        ({"engines": [{"kind": "propeller"}]}, "plane.yaml: engines[0].blades: missing"),
        ({"engines": ["jet"]}, "plane.yaml: engines[0]: is the text 'jet'; must be a mapping of keys"),
        ({"masses_kg": {"left": "x"}}, "plane.yaml: masses_kg.left: is the text 'x'; must be a number"),
    ],
)
def test_each_problem_names_file_key_value_and_what_is_valid(change: dict[str, object], expected: str) -> None:
    assert message({**GOOD, **change}) == expected


def test_a_missing_key_says_what_it_stands_for() -> None:
    assert message({"wing": {"span_m": 3}}) == "plane.yaml: name: missing (name of the plane)"


def test_every_problem_has_a_line() -> None:
    assert message({"name": 1, "wing": {"span_m": 0}, "x": 1}).splitlines() == [
        "plane.yaml: name: is 1; must be a text",
        "plane.yaml: wing.span_m: is 0; must be greater than 0",
        "plane.yaml: x: unknown key (valid keys: centre_m, engines, masses_kg, name, retractable, spare, wing)",
    ]


def test_a_long_value_is_shortened() -> None:
    assert message({**GOOD, "wing": {"span_m": "x" * 100}}) == (
        f"plane.yaml: wing.span_m: is the text '{'x' * 56}...; must be a number"
    )
    assert message({**GOOD, "retractable": 10**5000}).startswith("plane.yaml: retractable: is a number of thousands of")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3:1: duplicate key 'a', first given in line 1"),
        ("a: {b: 1, b: 1}\n", "x.yaml:1:11: duplicate key 'b', first given in line 1"),
        ("a: [1, 2\n", "x.yaml:2:1: expected ',' or ']', but got '<stream end>' (while parsing a flow sequence)"),
        ("a: 1\n b: 2\n", "x.yaml:2:3: mapping values are not allowed here"),
        ("a: &x 1\nb: *x\n", "x.yaml:1:4: anchors and aliases are not allowed"),
        ("a: !!python/name:os.system\n", "x.yaml:1:4: tags are not allowed"),
        ("a: !!int x\n", "x.yaml:1:4: tags are not allowed"),
        ("1: a\n", "x.yaml:1:1: a key must be a text"),
        ("[a]: 1\n", "x.yaml:1:1: a key must be a text"),
        ("", "x.yaml: is empty; a mapping of keys to values is expected"),
        ("- a\n", "x.yaml: holds a list; a mapping of keys to values is expected"),
        ("a: 1\n---\nb: 1\n", "x.yaml:2:1: but found another document (expected a single document in the stream)"),
        ("a: " + "[" * 5000, "x.yaml: nested too deeply"),
    ],
)
def test_what_is_not_strict_yaml_is_refused_with_its_line(text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "x.yaml")
    assert str(caught.value) == expected


def test_scalars_are_those_of_yaml_1_2() -> None:
    text = "{a: no, b: 1e3, c: 8.9e-7, d: 010, e: 1:30, f: 2026-01-02, g: true, h: ~, i: -.5, j: .inf, k: +3}"
    assert parse_yaml(text, "x.yaml") == {
        "a": "no", "b": 1000.0, "c": 8.9e-7, "d": 10, "e": "1:30", "f": "2026-01-02",
        "g": True, "h": None, "i": -0.5, "j": float("inf"), "k": 3,
    }  # fmt: skip


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing, binary = tmp_path / "none.yaml", tmp_path / "binary.yaml"
    binary.write_bytes(b"a: \xff")
    for path, why in (
        (missing, "no such file or directory"),
        (tmp_path, "is a directory"),
        (binary, "not UTF-8 at byte 3"),
    ):
        with pytest.raises(InputError) as caught:
            load_yaml(path)
        assert str(caught.value) == f"{path}: {why}"


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
trees = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@settings(derandomize=True, deadline=None)
@given(st.dictionaries(st.text(), trees))
def test_what_is_dumped_is_read_back_exactly(data: dict[str, object]) -> None:
    assert repr(parse_yaml(dump_yaml(data), "x.yaml")) == repr(data)


@settings(derandomize=True, deadline=None)
@given(st.text())
def test_any_text_gives_a_mapping_or_an_input_error(text: str) -> None:
    with contextlib.suppress(InputError):
        assert isinstance(parse_yaml(text, "x.yaml"), dict)
