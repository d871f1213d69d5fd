"""A launch file reads like the block diagram; whatever is wrong in one is said in words, before anything starts."""

import pytest

from graph.errors import InputError
from graph.launch import names, read, resolve

BASE = """
name: base
args:
  gain: {type: float, default: 2, help: of the counter}
  mode: {choices: [slow, fast], default: slow}
world: {scenario: null-pad, seed: 3}
nodes:
  counter: {node: my.counter, options: {gain: $gain, mode: $mode}}
  summer: {node: my.summer, inputs: {number: number}, outputs: {total: total}}
delayed: [summer.feedback]
order: [total]
"""


@pytest.fixture
def launch(tmp_path, monkeypatch):
    """Writes launch files into a folder and resolves the last one."""
    monkeypatch.chdir(tmp_path)

    def write(text, *overrides, name="base"):
        (tmp_path / f"{name}.yaml").write_text(text)
        return resolve(f"./{name}.yaml", overrides)

    return write


def refusal(launch, text, *overrides, **named):
    with pytest.raises(InputError) as caught:
        launch(text, *overrides, **named)
    return str(caught.value)


def test_every_shipped_launch_file_reads():
    assert "sitl" in names()
    assert all(read(name).name == name for name in names())


def test_arguments_fill_options(launch):
    assert launch(BASE).nodes["counter"].options == {"gain": 2.0, "mode": "slow"}
    assert launch(BASE, "gain=3.5", "mode=fast").nodes["counter"].options == {"gain": 3.5, "mode": "fast"}


def test_unknown_argument(launch):
    assert refusal(launch, BASE, "gian=3") == (
        "unknown argument 'gian' of launch file base; did you mean gain?; valid arguments: gain, mode"
    )


def test_duplicate_argument(launch):
    assert refusal(launch, BASE, "gain=3", "gain=4") == "argument 'gain' is given twice"


def test_argument_of_a_wrong_type(launch):
    assert refusal(launch, BASE, "gain=fast") == "argument gain of launch file base: 'fast' is not a number"


def test_argument_out_of_its_choices(launch):
    assert refusal(launch, BASE, "mode=warp") == "argument mode of launch file base: 'warp' is not one of: slow, fast"


def test_an_argument_without_a_default_may_have_choices(launch):
    text = BASE.replace(", default: slow", "")
    assert "default: slow" not in text
    assert launch(text).nodes
    assert refusal(launch, text, "mode=warp") == "argument mode of launch file base: 'warp' is not one of: slow, fast"


def test_argument_without_a_value(launch):
    assert refusal(launch, BASE, "gain") == "argument 'gain': write it as NAME=VALUE; valid arguments: gain, mode"


def test_unknown_key(launch):
    text = refusal(launch, BASE.replace("delayed:", "delay:"))
    assert text.startswith("base.yaml: delay: unknown key; did you mean delayed?")


def test_reference_to_no_argument(launch):
    text = refusal(launch, BASE.replace("gain: $gain", "gain: $gian"))
    assert text == "base.yaml: $gian is no argument of this file; arguments: gain, mode"


def test_a_name_that_is_none(launch):
    text = refusal(launch, BASE.replace("  counter:", "  Counter-1:"))
    assert text == "base.yaml: nodes.Counter-1: a node's name is made of a-z, 0-9 and _"


def test_a_delay_that_is_no_port(launch):
    text = refusal(launch, BASE.replace("summer.feedback", "feedback"))
    assert text == "base.yaml: delayed: 'feedback': write it as NODE.PORT"


def test_unknown_launch_file():
    with pytest.raises(InputError) as caught:
        resolve("stil")
    assert str(caught.value).startswith("unknown launch file 'stil'; did you mean sitl? (valid: ")


INCLUDING = """
name: variant
include:
  - launch: ./base.yaml
    args: {gain: 7.0}
    remap: {number: count, total: sum}
nodes:
  summer: {node: team.summer}
  extra: {node: team.extra, remap: {in: count}}
"""


def test_an_include_takes_arguments_and_renames_topics(launch):
    launch(BASE)
    variant = launch(INCLUDING, name="variant")
    counter = variant.nodes["counter"]
    assert counter.options["gain"] == 7.0
    assert counter.topic(counter.outputs, "number") == "count"
    assert variant.order == ("sum",)
    assert variant.world == {"scenario": "null-pad", "seed": 3}


def test_a_node_of_the_same_name_replaces_the_included_one(launch):
    launch(BASE)
    assert launch(INCLUDING, name="variant").nodes["summer"].node == "team.summer"


def test_null_removes_an_included_node(launch):
    launch(BASE)
    variant = launch(INCLUDING.replace("{node: team.summer}", "null"), name="variant")
    assert list(variant.nodes) == ["counter", "extra"]
    assert variant.delayed == ()


def test_null_without_such_a_node(launch):
    launch(BASE)
    text = refusal(
        launch, INCLUDING.replace("  extra: {node: team.extra, remap: {in: count}}", "  ghost: null"), name="v"
    )
    assert text == "v.yaml: nodes.ghost: null removes an included node, but none has that name"


def test_unknown_argument_of_an_include(launch):
    launch(BASE)
    text = refusal(launch, INCLUDING.replace("gain: 7.0", "gian: 7.0"), name="variant")
    assert (
        text
        == "variant.yaml: include ./base.yaml: unknown argument 'gian'; did you mean gain?; valid arguments: gain, mode"
    )


def test_files_that_include_each_other(launch, tmp_path):
    (tmp_path / "a.yaml").write_text("name: a\ninclude: [{launch: ./b.yaml}]\n")
    text = refusal(launch, "name: b\ninclude: [{launch: ./a.yaml}]\n", name="b")
    assert text == "launch files include each other: b.yaml -> a.yaml -> b.yaml"


def test_files_that_include_each_other_by_another_way(launch, tmp_path):
    (tmp_path / "deeper").mkdir()
    text = refusal(launch, "name: b\ninclude: [{launch: deeper/../b.yaml}]\n", name="b")
    assert text == "launch files include each other: b.yaml -> b.yaml"


def test_a_topic_that_is_no_name_in_an_include(launch):
    launch(BASE)
    text = refusal(launch, INCLUDING.replace("total: sum", "total: 'the sum'"), name="variant")
    assert text == (
        "variant.yaml: include ./base.yaml: remap: topic 'the sum': a topic's name is made of a-z, 0-9 and _"
    )
