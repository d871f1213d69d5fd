"""Plays a bag and listens to it, in a process of its own: one that has opened zenoh cannot fork a run any more.

Argument: the bag. Prints the number of messages heard of topic estimate, and whether they are those of the bag from 1 s
on.
"""

import contextlib
import queue
import sys

from graph.bag import Bag
from graph.launch import Transport
from graph.process.transport import configuration, endpoints, session
from tools import cli


def main(bag: str) -> None:
    """Listen, play once somebody listens, and compare."""
    expected = [m.data for m in Bag.open(bag).messages() if m.topic == "estimate" and m.log_time >= 1_000_000_000]
    (where,) = endpoints("tcp/127.0.0.1:0", 1)
    heard: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    config = configuration(endpoints("tcp/127.0.0.1:0", 1), [where], Transport())
    config["connect"] |= {
        "exit_on_failure": False,
        "timeout_ms": -1,
        "retry": {"period_init_ms": 10, "period_max_ms": 50},
    }
    with session(config) as listener:
        subscriber = listener.declare_subscriber(
            "holeshot/replay/estimate", lambda sample: heard.put(sample.payload.to_bytes())
        )
        options = [
            "--from",
            "1",
            "--topics",
            "estimate",
            "--run",
            "replay",
            "--listen",
            where,
            "--rate",
            "max",
            "--wait",
        ]
        sys.argv = ["holeshot", "bag", "play", bag, *options]
        with contextlib.suppress(SystemExit):
            cli.main()
        got = [heard.get(timeout=10.0) for _ in expected]
        subscriber.undeclare()
    print(len(got), got == expected)


if __name__ == "__main__":
    main(sys.argv[1])
