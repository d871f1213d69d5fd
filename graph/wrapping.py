"""Generated source in lines that a person can read: a call that is too long gets a line for each argument."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

INDENT = "    "
WIDTH = 120
OPENING, CLOSING = "([{", ")]}"


def wrapped(lines: Iterable[str]) -> list[str]:
    """The lines, each longer than ``WIDTH`` broken at the commas of its outermost bracket, again and again."""
    return [part for line in lines for part in _wrapped(line)]


def _wrapped(line: str) -> list[str]:
    if len(line) <= WIDTH:
        return [line]
    pieces = _pieces(line)
    if pieces is None:
        return [line]
    head, items, tail = pieces
    indent = line[: len(line) - len(line.lstrip())] + INDENT
    if all(item.isidentifier() for item in items):
        filled = textwrap.wrap(", ".join(items) + ",", WIDTH, initial_indent=indent, subsequent_indent=indent)
        return [head, *filled, indent[len(INDENT) :] + tail]
    return [head, *(part for item in items for part in _wrapped(f"{indent}{item},")), indent[len(INDENT) :] + tail]


def _pieces(line: str) -> tuple[str, list[str], str] | None:
    """The line up to the first bracket that holds more than one item, its items, and the rest; None without one."""
    for begin, character in enumerate(line):
        if character not in OPENING:
            continue
        depth, start, items = 0, begin + 1, []
        for end in range(begin, len(line)):
            depth += (line[end] in OPENING) - (line[end] in CLOSING)
            if depth == 0 or (depth == 1 and line[end] == ","):
                item = line[start:end].strip()
                items += [item] if item else []
                start = end + 1
            if depth == 0:
                break
        if len(items) > 1:
            return line[: begin + 1], items, line[end:]
    return None
