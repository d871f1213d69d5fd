"""``holeshot``: the command and its exit codes.

0 good; 1 the run or check ended and failed; 2 bad input; 3 a node failed or stalled; 130 ended by Ctrl-C or by
a viewer.
"""

import errno
import os
import signal
import sys
from typing import Annotated

import typer

from graph.errors import InputError, why
from tools import bag, batch, bench, doctor, graph, launch, score, topic
from tools.commands import Commands
from tools.exit_codes import BAD_INPUT, INTERRUPTED, NODE_FAILED

app = typer.Typer(
    name="holeshot",
    cls=Commands,
    help="Drone racing software-in-the-loop on a node graph: deterministic, recorded, verified.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("launch")(launch.launch)
app.command("doctor")(doctor.doctor)
app.command("batch")(batch.batch)
app.command("graph")(graph.graph)
app.command("bench")(bench.bench)
app.command("score")(score.score)
app.add_typer(bag.app, name="bag")
app.add_typer(topic.app, name="topic")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"holeshot {version('holeshot')}")
        raise typer.Exit


@app.callback()
def holeshot(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version and exit")
    ] = False,
) -> None:
    """Drone racing software-in-the-loop on a node graph: deterministic, recorded, verified."""


def main() -> None:
    """Run the command line; every expected failure is a sentence and an exit code."""
    from graph.outcome import NodeFailure

    for number in (signal.SIGTERM, signal.SIGHUP):  # whoever ends the command this way is Ctrl-C too
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except InputError as error:
        print(f"holeshot: {error}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except NodeFailure as error:
        if error.trace:
            print(error.trace.rstrip(), file=sys.stderr)
        print(f"holeshot: {error}", file=sys.stderr)
        sys.exit(NODE_FAILED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output is gone; nothing is left to tell them
        sys.exit(0)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        # What could not be written is not tried again at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"holeshot: the output cannot be written: {why(error)}", file=sys.stderr)
        sys.exit(BAD_INPUT)
