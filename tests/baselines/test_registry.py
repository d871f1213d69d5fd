"""Slots are found by name, a user's own by import path; what is wrong is said with what would be valid."""

import sys
import types

import pytest

from baselines.registry import SHIPPED, slot
from baselines.slots import INPUTS, KERNELS
from graph.errors import InputError
from scenarios import library
from scenarios.baseline import Baseline


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in SHIPPED.items() for name in names])
def test_every_shipped_slot_is_of_its_kind_and_has_its_kernels(kind, name):
    module = slot(kind, name, "test")
    assert kind == module.KIND
    for attribute in ("Params", "State", "configure", *KERNELS[kind]):
        assert hasattr(module, attribute)
    takes = [n for n in vars(module) if n.startswith("on_")]
    assert set(takes) <= set(INPUTS)


@pytest.mark.parametrize("name", library.names("baseline"))
def test_every_shipped_baseline_names_shipped_slots(name):
    baseline = library.load("baseline", Baseline, name)
    for kind in KERNELS:
        assert getattr(baseline.slots, kind) in SHIPPED[kind]


def test_a_slot_of_another_kind_is_unknown_here():
    with pytest.raises(InputError, match=r"^baseline b: slots\.planner: unknown planner 'CascadedPid' \(valid: Null"):
        slot("planner", "CascadedPid", "b")


def test_a_module_that_is_not_there_is_named():
    with pytest.raises(InputError) as caught:
        slot("planner", "no_such_package.planner", "b")
    assert str(caught.value) == (
        "baseline b: slots.planner: there is no module no_such_package.planner; "
        "it is the import path of a Python module"
    )


def test_a_module_that_fails_to_import_is_named_with_the_place(tmp_path, monkeypatch):
    (tmp_path / "broken_team").mkdir()
    (tmp_path / "broken_team/planner.py").write_text("LIMIT = 1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    message = r"^baseline b: slots\.planner: module broken_team\.planner fails to import: ZeroDivisionError: .*py:1\)$"
    with pytest.raises(InputError, match=message):
        slot("planner", "broken_team.planner", "b")


def test_a_module_of_the_wrong_kind_is_refused():
    with pytest.raises(InputError) as caught:
        slot("planner", "baselines.null_controller", "b")
    assert str(caught.value) == (
        "baseline b: slots.planner: module 'baselines.null_controller' has KIND 'controller'; must be 'planner'"
    )


def test_a_module_that_lacks_a_kernel_is_refused(monkeypatch):
    module = types.ModuleType("own.planner")
    monkeypatch.setattr(module, "KIND", "planner", raising=False)
    monkeypatch.setitem(sys.modules, "own", types.ModuleType("own"))
    monkeypatch.setitem(sys.modules, "own.planner", module)
    with pytest.raises(InputError) as caught:
        slot("planner", "own.planner", "b")
    assert str(caught.value) == (
        "baseline b: slots.planner: module 'own.planner' lacks Params, State, configure, plan, "
        "which a planner must have"
    )
