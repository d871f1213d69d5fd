"""``holeshot topic``: look at the topics of a running session."""

from __future__ import annotations

from typing import Annotated

import typer

from tools.commands import Commands

app = typer.Typer(cls=Commands, help="List, print and measure the topics of a running session.", no_args_is_help=True)

RunOption = Annotated[str | None, typer.Option("--run", metavar="ID", help="which run, when there are several")]
JsonOption = Annotated[bool, typer.Option("--json", help="print JSON")]
SecondsOption = Annotated[float, typer.Option("--seconds", min=0.1, help="how long to listen, wall time")]
TopicsArgument = Annotated[list[str] | None, typer.Argument(metavar="[TOPIC]...", help="topics; by default all")]


@app.command("list")
def list_topics(run: RunOption = None, as_json: JsonOption = False) -> None:
    """List the topics: type, publisher and who listens.

    Example: holeshot topic list
    """
    from tools.topic.listing import list_topics as work

    work(run, as_json)


@app.command()
def echo(
    topic: Annotated[str, typer.Argument(help="the topic")],
    run: RunOption = None,
    count: Annotated[int | None, typer.Option("--count", "-n", min=1, help="stop after so many messages")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print each message as it is published, until the run ends.

    Example: holeshot topic echo truth --count 1 --json
    """
    from tools.topic.echo import echo as work

    work(topic, run, count, as_json)


@app.command()
def hz(
    topics: TopicsArgument = None, run: RunOption = None, seconds: SecondsOption = 2.0, as_json: JsonOption = False
) -> None:
    """Measure rates: messages per second of simulated and of wall time.

    Example: holeshot topic hz imu truth --seconds 5
    """
    from tools.topic.traffic import rates as work

    work(topics or [], run, seconds, as_json)


@app.command()
def bw(
    topics: TopicsArgument = None, run: RunOption = None, seconds: SecondsOption = 2.0, as_json: JsonOption = False
) -> None:
    """Measure bandwidth: bytes per second of wall time, and of a message.

    Example: holeshot topic bw --seconds 5
    """
    from tools.topic.traffic import bandwidth as work

    work(topics or [], run, seconds, as_json)
