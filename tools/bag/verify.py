"""``holeshot bag verify``: prove that a bag is what the code produces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from graph.errors import InputError
from tools.exit_codes import FAILED, GOOD


def verify(
    bag: Annotated[Path | None, typer.Argument(metavar="BAG", help="the bag")] = None,
    node: Annotated[
        str | None, typer.Option(metavar="NAME", help="the node to step again; by default the stack")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="run the whole graph again, from the seed")] = False,
    repro: Annotated[
        Path | None, typer.Option(metavar="FILE", help="step once again from a monitor's repro file")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="run modules that the bag names beside holeshot's own")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the result as one JSON line")] = False,
) -> None:
    """Compute what a bag holds again, from the bag alone, and compare every byte.

    The stack (or another compiled node) is stepped from its recorded inputs; --all runs the whole graph from the seed.

    Exit code 0: identical; 1: it differs, with a report of where first, how far, and what the node had; 2: bad input.

    Example: holeshot bag verify flight.mcap --node sim_fc
    """
    if sum((bag is not None, repro is not None)) != 1:
        raise InputError("bag verify: name a bag, or a repro file with --repro FILE")
    if repro is not None:
        if node is not None or everything:
            raise InputError("bag verify: --repro runs one step of the plant; --node and --all need a bag")
        raise typer.Exit(_step_again(repro, as_json))
    if node is not None and everything:
        raise InputError("bag verify: --all includes every node; leave out --node")
    assert bag is not None
    raise typer.Exit(_verify(bag, node, everything, trust, as_json))


def _verify(path: Path, node: str | None, everything: bool, trust: bool, as_json: bool) -> int:
    from graph.bag import Bag
    from tools import terminal
    from tools.bag.proof import STACK, Proof
    from tools.bag.proof_text import as_json as json_of
    from tools.bag.proof_text import as_text

    with terminal.working(f"reading {path}"):
        proof = Proof(Bag.open(path), trust)
    with terminal.working("running again" if everything else f"stepping node {node or STACK} again"):
        found = proof.everything() if everything else proof.node(node or STACK)
    if as_json:
        print(json.dumps({"bag": str(path), **json_of(found)}))
    else:
        for line in as_text(found):
            print(line)
    return GOOD if found.report.identical else FAILED


def _step_again(path: Path, as_json: bool) -> int:
    from scenarios.repro import load
    from scenarios.repro import step_again as again

    result = again(load(path))
    if as_json:
        print(json.dumps({"repro": str(path), "violation": result.invariant or None, "text": result.text}))
    else:
        print(result.text)
    return FAILED if result.invariant else GOOD
