"""What the documents show works: every file in them is written, every command is run, every link leads somewhere."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "bags").glob("*.md")])
LONG = ("README", "bags", "batches", "protocol", "scenarios", "writing-a-node")
"""Documents whose commands take long."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w./-]+\.(?:py|yaml))\n")


def blocks(document: Path) -> list[tuple[str, str]]:
    """(language, text) of every fenced block."""
    return BLOCK.findall(document.read_text())


def commands(document: Path) -> list[str]:
    """Every command line of the document's shell blocks, without comments."""
    lines = [line for language, text in blocks(document) if language == "sh" for line in text.splitlines()]
    return [stripped for line in lines if (stripped := line.split("  #")[0].strip())]


def names(document: Path) -> str:
    return str(document.relative_to(ROOT))


@pytest.fixture
def bin_path(tmp_path_factory):
    """A folder with the ``holeshot`` command of this checkout."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "holeshot"
    script.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path[:0] = ['', {str(ROOT)!r}]\nfrom tools.cli import main\nmain()\n"
    )
    script.chmod(0o755)
    python = folder / "python"  # no link: it would forget its virtual environment
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    "document",
    [pytest.param(d, marks=[pytest.mark.slow] if d.stem in LONG else [], id=names(d)) for d in DOCUMENTS],
)
def test_commands_run(document, tmp_path, bin_path):
    for language, text in blocks(document):
        named = FILE.match(text)
        if language in ("python", "yaml") and named:
            (tmp_path / named[1]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / named[1]).write_text(text)
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    environment = {**os.environ, "PATH": f"{bin_path}:{os.environ['PATH']}", "COLUMNS": "150"}
    for command in commands(document):
        words = shlex.split(command)
        if words[0] == "make":
            assert set(words[1:]) <= targets, command
            continue
        run = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )
        assert run.returncode == 0, f"{command}\n{run.stdout}\n{run.stderr}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=names)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_the_commands_that_need_a_machine_of_their_own_are_make_targets():
    assert {"make fly", "make test"} <= set(commands(ROOT / "README.md"))
