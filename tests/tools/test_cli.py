"""The command itself: what it says of a command that is not there, and how its help reads."""

from typing import Any

import pytest
from typer.main import get_command

from tests.tools.runs import Command
from tools.cli import app


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("lunch",), "holeshot: no command 'lunch'; did you mean launch?; valid: launch, doctor, "),
        (("bag", "vrify"), "holeshot: no command 'vrify'; did you mean verify?; valid: info, verify, "),
        (("topic", "xx"), "holeshot: no command 'xx'; valid: list, echo, hz, bw"),
    ],
)
def test_a_command_that_is_not_there(holeshot: Command, arguments: tuple[str, ...], error: str) -> None:
    code, _, err = holeshot(*arguments)
    assert code == 2
    assert err.startswith(error)


def commands() -> list[tuple[str, Any]]:
    """Every command that does something, with its full name."""
    found, waiting = [], [("holeshot", get_command(app))]
    while waiting:
        name, command = waiting.pop()
        inner = getattr(command, "commands", {})
        found += [] if inner else [(name, command)]
        waiting += [(f"{name} {key}", value) for key, value in inner.items()]
    return sorted(found)


@pytest.mark.parametrize(("name", "command"), commands())
def test_help_ends_with_an_example_and_no_paragraph_is_indented(name: str, command: Any) -> None:
    paragraphs = command.help.split("\n\n")
    assert paragraphs[-1].startswith(("Example: ", "Examples: "))
    assert f"{name} " in f"{paragraphs[-1]} "
    assert all(not line.startswith(" ") for line in command.help.splitlines())
