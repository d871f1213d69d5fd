"""``holeshot bag play``: publish a bag's messages on zenoh, as a run does for whoever listens from outside."""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph.errors import InputError

if TYPE_CHECKING:
    from graph.bag import Message

HOST, LISTEN = "127.0.0.1", "tcp/127.0.0.1:0"
LOOK_S = 0.05
"""Longest time between two looks at the keyboard, s."""


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
    host: Annotated[str, typer.Option(help="address that viewers are served on")] = HOST,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="port; by default the first free one from 8765")
    ] = None,
    listen: Annotated[str, typer.Option(metavar="ENDPOINT", help="zenoh endpoint; port 0: a free one")] = LISTEN,
) -> None:
    """Publish each message on holeshot/ID/TOPIC at its time, or with --viewer serve it to Foxglove and Lichtblick.

    In a terminal, space or enter pauses and goes on.

    To fly a stack against a bag, in lockstep and recorded: holeshot launch replay-stack bag=BAG

    Example: holeshot bag play flight.mcap --rate 0.5 --from 12 --topics truth,imu
    """
    import secrets

    from graph.bag import Bag
    from graph.launch import Transport
    from graph.process.transport import Keys, configuration, endpoints, session
    from graph.rate import read_rate

    factor = read_rate(rate, "--rate")
    opened = Bag.open(bag)
    chosen = opened.topics if topics is None else tuple(t.strip() for t in topics.split(","))
    for topic in chosen:
        opened.heads(topic)
    if not (math.isfinite(begin) and begin >= 0):
        raise InputError(f"--from {begin:g}: must be a simulated time of at least 0 s")
    useless = {"--run": run is not None, "--wait": wait, "--listen": listen != LISTEN}
    if not viewer:
        useless = {"--host": host != HOST, "--port": port is not None}
    for option, given in useless.items():
        if given:
            raise InputError(f"{option}: has no meaning {'with' if viewer else 'without'} --viewer; leave it out")
    if viewer:
        from tools.bag.view import serve_bag

        def notice(text: str) -> None:
            print(text, file=sys.stderr, flush=True)

        serve_bag(
            opened, host, port, topics=chosen, rate=factor, begin_s=begin, loop=loop, paused=paused, notice=notice
        )
        return
    messages = [m for m in opened.messages() if m.topic in chosen and m.log_time >= begin * 1e9]
    if not messages:
        raise InputError(f"{bag}: has no message of {', '.join(chosen) or 'any topic'} from {begin:g} s on")
    if paused and not sys.stdin.isatty():
        raise InputError("--paused: there is no terminal whose space key could start the playback")
    if run is not None and not re.fullmatch(r"[\w-]+", run, re.ASCII):
        raise InputError(f"--run {run!r}: an id is made of letters, digits, _ and -")
    keys = Keys(secrets.token_hex(4) if run is None else run)
    where = endpoints(listen, 1)
    with session(configuration(where, [], Transport())) as zenoh_session, Keyboard() as keyboard:
        import zenoh

        publishers = {
            t: zenoh_session.declare_publisher(keys.topic(t), congestion_control=zenoh.CongestionControl.BLOCK)
            for t in chosen
        }
        print(f"{keys.run}/*  at {where[0]}  ({len(messages)} messages of {len(chosen)} topics)", file=sys.stderr)
        while wait and not any(p.matching_status.matching for p in publishers.values()):
            time.sleep(LOOK_S)
        pace = Pace(factor, keyboard.pressed, paused)
        while True:
            for message in pace.of(messages):
                publishers[message.topic].put(message.data)
            if not loop:
                return


class Pace:
    """Gives out messages at their times, at a rate, with pauses."""

    def __init__(self, rate: float, pressed: Callable[[float], bool], paused: bool) -> None:
        """``pressed(seconds)`` waits at most that long for a key and says whether one was pressed."""
        self._rate = rate
        self._pressed = pressed
        self._paused = paused

    def of(self, messages: Sequence[Message]) -> Iterator[Message]:
        """Each message once it is due; one that is late follows at once."""
        first = messages[0].log_time
        begun = time.monotonic()
        for message in messages:
            due = (message.log_time - first) * 1e-9 / self._rate
            while True:
                now = time.monotonic() - begun
                if not self._paused and now >= due:
                    break
                if self._pressed(LOOK_S if self._paused else min(LOOK_S, due - now)):
                    self._paused = not self._paused
                if self._paused:
                    begun += time.monotonic() - begun - now  # a pause moves everything behind it
            yield message


class Keyboard:
    """Space and enter of a terminal; without one, no key is ever pressed."""

    def __init__(self) -> None:
        self._saved: Any = None

    def __enter__(self) -> Keyboard:
        if sys.stdin.isatty():
            import termios
            import tty

            self._saved = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        return self

    def __exit__(self, *_: object) -> None:
        if self._saved is not None:
            import termios

            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._saved)

    def pressed(self, seconds: float) -> bool:
        """Wait at most ``seconds``; whether space or enter was pressed."""
        if self._saved is None:
            time.sleep(seconds)
            return False
        import select

        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        return bool(ready) and sys.stdin.read(1) in (" ", "\n")
