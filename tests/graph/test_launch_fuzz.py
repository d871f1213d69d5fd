"""Whatever a launch file says, it resolves to a session or is refused in words."""

import contextlib

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.errors import InputError
from tests.process.session import ROOT
from tools.session import load

SITL = (ROOT / "launch/sitl.yaml").read_text()
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(), st.text(max_size=8),
    st.sampled_from(["$scenario", "$nothing", "nodes.imu", "nodes", "truth", "../etc", "os", "imu.truth"]),
    st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)  # fmt: skip


def places(data, path=()):
    """Every key and index of nested data."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


PLACES = list(places(yaml.safe_load(SITL)))


@settings(max_examples=150)
@given(st.lists(st.tuples(st.sampled_from(PLACES), VALUES, st.booleans()), min_size=1, max_size=3))
def test_any_change_of_a_launch_file(tmp_path_factory, changes):
    data = yaml.safe_load(SITL)
    for path, value, remove in changes:
        parent = data
        for key in path[:-1]:
            parent = parent[key] if isinstance(parent, dict) and key in parent else {}
        if not isinstance(parent, dict):
            continue
        if remove:
            parent.pop(path[-1], None)
        else:
            parent[path[-1]] = value
    file = tmp_path_factory.getbasetemp() / "fuzzed.yaml"
    file.write_text(yaml.safe_dump(data, allow_unicode=True))
    attempt(str(file))


@settings(max_examples=100)
@given(st.integers(0, len(SITL)), st.integers(0, 40), st.text(max_size=20))
def test_any_damage_to_a_launch_file(tmp_path_factory, position, cut, text):
    file = tmp_path_factory.getbasetemp() / "damaged.yaml"
    file.write_text(SITL[:position] + text + SITL[position + cut :], errors="surrogatepass")
    attempt(str(file))


@settings(max_examples=100)
@given(
    st.lists(st.text(max_size=20) | st.sampled_from(["seed=x", "seed=-1", "duration=nan", "duration=1e9"]), max_size=3)
)
def test_any_argument(arguments):
    attempt("sitl", *arguments)


def attempt(name, *arguments):
    with contextlib.suppress(InputError):
        session, _ = load(name, arguments)
        assert session.ticks > 0
