"""Whatever a file holds gives a world or an InputError, never another error."""

import copy
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from graph.config import dump_yaml, parse_yaml
from graph.errors import InputError
from scenarios import library
from scenarios.world import World

ROOT = Path(__file__).parents[2]
BASE = World.load("scripted-hop").resolved()
SHIPPED = [
    (kind, (ROOT / folder / f"{name}.yaml").read_text(encoding="utf-8"))
    for kind, folder in library.FOLDERS.items()
    for name in library.names(kind)
]

numbers = st.integers() | st.floats() | st.sampled_from([0, -1, 1e-320, 1e308, 10**400, float("nan"), float("inf")])
scalars = st.none() | st.booleans() | numbers | st.text(max_size=5)
values = st.recursive(scalars, lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=3), v, max_size=3))


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Every (container, key or index) in `tree`."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [place for key, value in items for place in [(tree, key), *places(value)]]


def world_or_input_error(kind: str, text: str) -> None:
    try:
        world = World.from_resolved({**BASE, kind: text})
    except InputError:
        return
    assert World.from_resolved(world.resolved()) == world
    assert world.plant_params().mass > 0.0


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.sampled_from(SHIPPED), st.data())
def test_any_changed_value(shipped: tuple[str, str], data: st.DataObject) -> None:
    kind, text = shipped
    tree = copy.deepcopy(parse_yaml(text, kind))
    for _ in range(data.draw(st.integers(1, 3))):
        found = places(tree)
        container, key = found[data.draw(st.integers(0, len(found) - 1))]
        change = data.draw(st.sampled_from(["replace", "remove", "rename"]))
        if change == "remove":
            del container[key]
        elif change == "rename" and isinstance(container, dict):
            container[data.draw(st.text(max_size=5))] = container.pop(key)
        else:
            container[key] = data.draw(values)
        if not tree:
            break
    world_or_input_error(kind, dump_yaml(tree))


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.sampled_from(SHIPPED), st.data())
def test_any_changed_character(shipped: tuple[str, str], data: st.DataObject) -> None:
    kind, text = shipped
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 20, len(text))))
    patch = data.draw(
        st.text(max_size=5) | st.sampled_from(["{", "[", "- ", ": ", "&a ", "*a", "!!", "'", "\t", "\0", "\n"])
    )
    world_or_input_error(kind, text[:start] + patch + text[end:])
