"""``holeshot bag play``: publish a bag's messages on zenoh, as a run does for whoever listens from outside."""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graph.errors import InputError
from tools.bag.pace import LOOK_S, Pace
from tools.keyboard import Keyboard

if TYPE_CHECKING:
    from graph.bag import Message

HOST, LISTEN = "127.0.0.1", "tcp/127.0.0.1:0"


def play(
    bag: Annotated[Path, typer.Argument(metavar="BAG", help="the bag")],
    rate: Annotated[str, typer.Option(metavar="FACTOR|max", help="simulated seconds per second")] = "1",
    paused: Annotated[bool, typer.Option("--paused", help="wait for the space key before the first message")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="wait for a subscriber before the first message")] = False,
    begin: Annotated[float, typer.Option("--from", metavar="S", help="simulated time to start from, s")] = 0.0,
    loop: Annotated[bool, typer.Option("--loop", help="start over at the end, until Ctrl-C")] = False,
    topics: Annotated[str | None, typer.Option(metavar="A,B", help="the topics; by default all")] = None,
    run: Annotated[
        str | None, typer.Option(metavar="ID", help="the run's id in the keys; by default a new one")
    ] = None,
    viewer: Annotated[
        bool, typer.Option("--viewer", help="serve Foxglove and Lichtblick, which pause, seek and change the speed")
    ] = False,
    host: Annotated[str | None, typer.Option(help=f"address that viewers are served on; by default {HOST}")] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="port; by default the first free one from 8765")
    ] = None,
    listen: Annotated[
        str | None, typer.Option(metavar="ENDPOINT", help=f"zenoh endpoint; by default {LISTEN}: a free port")
    ] = None,
) -> None:
    """Publish each message on holeshot/ID/TOPIC at its time, or with --viewer serve it to Foxglove and Lichtblick.

    In a terminal, space or enter pauses and goes on.

    To fly a stack against a bag, in lockstep and recorded: holeshot launch replay-stack bag=BAG

    Example: holeshot bag play flight.mcap --rate 0.5 --from 12 --topics truth,imu
    """
    from graph.bag import Bag
    from graph.rate import read_rate

    factor = read_rate(rate, "--rate")
    opened = Bag.open(bag)
    chosen = opened.topics if topics is None else tuple(t.strip() for t in topics.split(","))
    for topic in chosen:
        opened.heads(topic)
    if not (math.isfinite(begin) and begin >= 0):
        raise InputError(f"--from {begin:g}: must be a simulated time of at least 0 s")
    useless = {"--run": run is not None, "--wait": wait, "--listen": listen is not None}
    if not viewer:
        useless = {"--host": host is not None, "--port": port is not None}
    for option, given in useless.items():
        if given:
            raise InputError(f"{option}: has no meaning {'with' if viewer else 'without'} --viewer; leave it out")
    if viewer:
        from tools.bag.view import serve_bag

        def notice(text: str) -> None:
            print(text, file=sys.stderr, flush=True)

        serve_bag(
            opened,
            host or HOST,
            port,
            topics=chosen,
            rate=factor,
            begin_s=begin,
            loop=loop,
            paused=paused,
            notice=notice,
        )
        return
    messages = [m for m in opened.messages() if m.topic in chosen and m.log_time >= begin * 1e9]
    if not messages:
        raise InputError(f"{bag}: has no message of {', '.join(chosen) or 'any topic'} from {begin:g} s on")
    if paused and not sys.stdin.isatty():
        raise InputError("--paused: there is no terminal whose space key could start the playback")
    if run is not None and not re.fullmatch(r"[\w-]+", run, re.ASCII):
        raise InputError(f"--run {run!r}: an id is made of letters, digits, _ and -")
    with Keyboard() as keyboard:
        _publish(messages, chosen, run, listen or LISTEN, wait, Pace(factor, keyboard.pressed, paused), loop)


def _publish(
    messages: Sequence[Message], topics: Sequence[str], run: str | None, listen: str, wait: bool, pace: Pace, loop: bool
) -> None:
    import secrets

    import zenoh

    from graph.launch import Transport
    from graph.process.transport import Keys, configuration, endpoints, session

    keys = Keys(secrets.token_hex(4) if run is None else run)
    topic_keys = {t: keys.topic(t.strip("/")) for t in topics}  # ROS names begin with a slash
    for topic, key in topic_keys.items():
        try:
            zenoh.KeyExpr(key)
        except zenoh.ZError:
            raise InputError(f"topic {topic}: cannot be published: {key} is no key of zenoh") from None
    where = endpoints(listen, 1)
    with session(configuration(where, [], Transport())) as zenoh_session:
        publishers = {
            t: zenoh_session.declare_publisher(key, congestion_control=zenoh.CongestionControl.BLOCK)
            for t, key in topic_keys.items()
        }
        print(f"{keys.run}/*  at {where[0]}  ({len(messages)} messages of {len(topics)} topics)", file=sys.stderr)
        while wait and not any(p.matching_status.matching for p in publishers.values()):
            time.sleep(LOOK_S)
        while True:
            for message in pace.of(messages):
                publishers[message.topic].put(message.data)
            if not loop:
                return
