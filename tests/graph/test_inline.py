"""The generated loop: exact step times, latencies, early stop; the same messages for any window, also interpreted."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.inline import InlineRun
from graph.node import Setup
from graph.wiring import Instance, connect
from tests.graph.toys.awkward import P, S, awkward
from tests.graph.toys.graphs import MS, counter_at, pair


def messages(graph, ticks, window):
    parts: dict[str, list] = {t.name: [] for t in graph.topics}

    def take(end, logs):
        for name, log in logs.items():
            parts[name].append(log)

    end = InlineRun(graph, window).run(ticks, take)
    return end, {name: np.concatenate(logs) for name, logs in parts.items()}


def stamps(log):
    stamp = log["data"]["header"]["stamp"]
    return stamp["sec"].astype(np.int64) * 1_000_000_000 + stamp["nanosec"]


@given(st.sampled_from([1000, 500, 333, 250, 90, 60, 7]))
def test_steps_come_at_the_first_tick_at_or_after_k_over_rate(rate):
    _, logs = messages(pair(counter_hz=rate), 1001, 100)
    k = np.arange(len(logs["number"]))
    assert (stamps(logs["number"]) == k * 1_000_000_000 // rate).all()
    assert (logs["number"]["tick"] == -(-k * 1000 // rate)).all()
    assert len(k) == rate + 1


@given(st.sampled_from([1000, 90]), st.integers(0, 5 * MS))
def test_a_message_is_delivered_at_the_first_tick_after_its_latency(rate, latency):
    _, logs = messages(pair(counter_hz=rate, latency_ns=latency), 500, 50)
    late = stamps(logs["number"]) + latency
    # Without a latency a message is delivered at the tick of its step.
    expected = -(-late // MS) if latency else -(-stamps(logs["number"]) // MS)
    assert (logs["number"]["tick"] == expected).all()


@settings(max_examples=20)
@given(st.integers(1, 700), st.sampled_from([90, 333, 1000]), st.sampled_from([0, 3_300_000]))
def test_windows_change_nothing(window, rate, latency):
    graph = pair(counter_hz=rate, summer_hz=250, latency_ns=latency)
    _, one = messages(graph, 600, 600)
    _, many = messages(graph, 600, window)
    assert all(one[name].tobytes() == many[name].tobytes() for name in one)


@pytest.mark.parametrize("window", [1, 10, 46, 1000])
def test_a_stop_completes_its_tick_and_nothing_more(window):
    end, logs = messages(pair(limit=1000.0), 1000, window)
    assert end == 46  # 0 + 1 + ... + 45 = 1035
    assert logs["total"]["tick"][-1] == 45
    assert logs["total"]["data"]["value"][-1] == 1035.0


def test_the_plain_interpreter_gives_the_same_bytes(tmp_path):
    script = (
        "import sys; from tests.graph.test_inline import messages; from tests.graph.toys.graphs import pair\n"
        "_, logs = messages(pair(counter_hz=90, summer_hz=250, latency_ns=1500000), 300, 64)\n"
        "sys.stdout.buffer.write(b''.join(log.tobytes() for log in logs.values()))\n"
    )
    interpreted = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}
    ).stdout
    _, logs = messages(pair(counter_hz=90, summer_hz=250, latency_ns=1_500_000), 300, 64)
    assert interpreted == b"".join(log.tobytes() for log in logs.values())


def test_no_name_of_a_user_s_node_is_in_the_way_of_generated_code():
    inputs = {"n": "number", "record": "number", "i": "number"}
    setup = Setup(P(0.5), S(0.0, 0.0), 1000)
    node = Instance("awkward", awkward, setup, inputs, {"n": "total", "slot": "slot"})
    _, logs = messages(connect([counter_at(1000), node], MS), 4, 2)
    # Each tick adds the number three times, and a half: 0.5, then + 3 * 1 + 0.5, then + 3 * 2 + 0.5 ...
    assert logs["total"]["data"]["value"].tolist() == [0.5, 4.0, 10.5, 20.0]
    assert logs["slot"]["data"]["value"].tolist() == [0.0, 1.0, 1.0, 1.0]
