"""No viewer can harm a server, hold up whoever publishes, or make its memory grow, whatever it does."""

import json
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from graph.errors import InputError
from nodes.view import server
from nodes.view.offer import OfferedTopic, Wiring
from nodes.view.ports import free_port, listen
from nodes.view.sdk_server import SdkServer
from nodes.view.server import RUN, Content, Server
from nodes.view.services import services
from tests.nodes.view.clients import BINARY, CLOSE, MESSAGE, TEXT, TIME, Client, frame, service_call
from tests.nodes.view.memory import MEGABYTE, resident

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SUBPROTOCOLS = {"sdk": "foxglove.sdk.v1", "v1": "foxglove.websocket.v1"}


class Run:
    """A server, and what it was asked."""

    def __init__(self, kind: str) -> None:
        self.subprotocol = SUBPROTOCOLS[kind]
        self.asked: list[Mapping[str, Any]] = []
        topics = [OfferedTopic(name, "json", name, "jsonschema", b"{}") for name in ("a", "b")]
        offers = services("fault_injector")
        content = Content(
            "test",
            topics,
            Wiring({"a": ["x"]}, {"a": ["y"]}),
            offers,
            lambda: {"paused": False},
            self._write,
            self._ask,
            0,
            10**9,
        )

        def open_on(port: int) -> Server:
            if kind == "sdk":
                return SdkServer(content, "127.0.0.1", port)
            from nodes.view.v1_server import V1Server

            return V1Server(content, "127.0.0.1", port)

        self.server = listen(open_on, "127.0.0.1", None, "", lambda text: None)
        self.address = ("127.0.0.1", int(self.server.url.rpartition(":")[2]))

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append(request)
        return {"ok": True, "tick": 7}

    def _write(self, name: str, value: Any) -> None:
        raise InputError(f"parameter {name} cannot be set")

    def client(self, receive_buffer: int | None = None) -> Client:
        return Client(self.address, self.subprotocol, receive_buffer)

    def publish(self, number: int, size: int = 100) -> None:
        for k in range(number):
            self.server.time(k)
            self.server.publish(k % 2, k, b" " * size)


@pytest.fixture(params=["sdk", "v1"])
def run(request: pytest.FixtureRequest) -> Iterator[Run]:
    if request.param == "v1":
        pytest.importorskip("foxglove_websocket", reason="needs the extra viewer-v1")
    run = Run(request.param)
    yield run
    run.server.close()


def assert_well(run: Run) -> None:
    """The server greets, answers a call and sends messages."""
    with run.client() as client:
        client.subscribe_all()
        offer = client_services(client)["/clock/pause"]
        client.send(BINARY, service_call(offer, 1, b"{}"))
        answer = client.until(lambda m: isinstance(m, bytes) and m[0] == 3)
        assert json.loads(answer[13 + 4 :]) == {"ok": True, "tick": 7}
        over = threading.Event()
        speaker = threading.Thread(target=_speak, args=(run, over))
        speaker.start()
        try:
            client.until(lambda m: isinstance(m, bytes) and m[0] == 1)
        finally:
            over.set()
            speaker.join()


def _speak(run: Run, over: threading.Event) -> None:
    while not over.wait(0.01):
        run.publish(2)
        run.server.show_losses()


def client_services(client: Client) -> dict[str, int]:
    """Ids of the services by name."""
    client.say(op="getParameters", parameterNames=[], id="x")
    found: dict[str, int] = {}

    def gathered(message: Any) -> bool:
        if isinstance(message, dict) and message["op"] == "advertiseServices":
            found.update({s["name"]: s["id"] for s in message["services"]})
        return "/clock/pause" in found

    client.until(gathered)
    return found


def heard(client: Client) -> None:
    """Everything the client has said so far was heard."""
    client.say(op="getParameters", parameterNames=[], id="heard")
    client.until(lambda m: isinstance(m, dict) and m.get("id") == "heard")


def test_a_healthy_viewer(run: Run) -> None:
    assert_well(run)


def test_a_viewer_that_never_reads_holds_up_nobody_and_memory_stays(run: Run) -> None:
    with run.client(receive_buffer=4096) as lazy:
        lazy.subscribe_all()
        run.publish(5_000, 10_000)
        before = resident()
        run.publish(20_000, 10_000)  # 200 MB
        assert resident() - before < 40 * MEGABYTE
        assert_well(run)


def test_viewers_that_stop_reading_amid_large_messages_stop_nobodys_time(run: Run) -> None:
    with run.client(receive_buffer=4096) as lazy, run.client(receive_buffer=4096) as lazier, run.client() as client:
        for viewer in (lazy, lazier, client):
            viewer.subscribe_all()
            heard(viewer)
        run.publish(50, MEGABYTE // 2)
        run.server.time(10**12)
        client.until(lambda m: isinstance(m, bytes) and m[0] == TIME and struct.unpack_from("<Q", m, 1) == (10**12,))


def test_who_reads_gets_the_last_message_whatever_was_dropped_before(run: Run) -> None:
    with run.client() as client:
        client.subscribe_all()
        heard(client)
        run.publish(200, MEGABYTE // 2)
        run.server.publish(0, 10**12, b"the verdict")
        client.until(lambda m: isinstance(m, bytes) and m[0] == MESSAGE and m.endswith(b"the verdict"))


def test_a_call_amid_large_messages_is_answered_between_them(run: Run) -> None:
    with run.client(receive_buffer=4096) as client:
        client.subscribe_all()
        offer = client_services(client)["/clock/pause"]
        for call in range(20):
            run.publish(4, MEGABYTE // 2)
            client.send(BINARY, service_call(offer, call, b"{}"))
            # A frame within another message would be read as what it is not, and no answer found.
            answer = client.until(lambda m: isinstance(m, bytes) and m[0] == 3)
            assert struct.unpack_from("<II", answer, 1) == (offer, call)


@pytest.mark.parametrize("bad", [-1, 1 << 32, 1.5, "x", None])
def test_a_subscription_that_no_message_could_carry_hurts_nobody(run: Run, bad: Any) -> None:
    with run.client() as client:
        channels = client.until(lambda m: isinstance(m, dict) and m["op"] == "advertise")["channels"]
        client.say(op="subscribe", subscriptions=[{"id": bad, "channelId": c["id"]} for c in channels])
        heard(client)
        assert_well(run)


def test_viewers_are_told_of_one_that_does_not_keep_up(run: Run) -> None:
    with run.client(receive_buffer=4096) as lazy, run.client() as client:
        lazy.subscribe_all()
        run.publish(5_000, 10_000)
        over = threading.Event()
        speaker = threading.Thread(target=_speak, args=(run, over))
        speaker.start()
        try:
            told = client.until(lambda m: isinstance(m, dict) and m["op"] == "status" and m["level"] == 1)
        finally:
            over.set()
            speaker.join()
        assert told["message"].startswith("a viewer does not keep up and misses messages: viewer.")


def test_viewers_that_vanish_in_the_middle_of_a_message(run: Run) -> None:
    for how in (Client.close, Client.reset):
        client = run.client()
        client.subscribe_all()
        client.socket.sendall(frame(TEXT, b'{"op": "subscr', announced=5000))
        run.publish(10)
        how(client)
        run.publish(10)
    with socket.create_connection(run.address) as half_a_greeting:
        half_a_greeting.sendall(b"GET / HTTP/1.1\r\nUpgr")
    assert_well(run)


def test_twenty_viewers_at_once(run: Run) -> None:
    clients = [run.client() for _ in range(20)]
    for client in clients:
        client.subscribe_all()
    assert_well(run)
    for client in clients:
        client.until(lambda m: isinstance(m, bytes) and m[0] == 1)
        client.close()


def test_a_thousand_viewers_come_and_go_and_memory_stays(run: Run) -> None:
    for _ in range(200):
        run.client().close()
    before = resident()
    for number in range(800):
        with run.client() as client:
            if number % 10 == 0:
                client.subscribe_all()
                run.publish(5)
    assert resident() - before < 20 * MEGABYTE
    assert_well(run)


IGNORED = {"an empty binary message"}  # by one of the two
MALFORMED = {
    "no JSON": frame(TEXT, b"{nonsense"),
    "no object": frame(TEXT, b"[1, 2]"),
    "no operation": frame(TEXT, b'{"a": 1}'),
    "an unknown operation": frame(TEXT, b'{"op": "format the disk"}'),
    "an operation of another type": frame(TEXT, b'{"op": 7}'),
    "a subscription to nothing": frame(TEXT, b'{"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 99999}]}'),
    "subscriptions of another type": frame(TEXT, b'{"op": "subscribe", "subscriptions": 3}'),
    "parameters of another type": frame(TEXT, b'{"op": "setParameters", "parameters": 3, "id": "x"}'),
    "no UTF-8": frame(TEXT, b"\xff\xfe\xff"),
    "an empty binary message": frame(BINARY, b""),
    "an unknown binary operation": frame(BINARY, b"\xff" * 20),
    "half a service call": frame(BINARY, b"\x02\x01\x00"),
    "a call of an unknown service": frame(BINARY, service_call(4_000_000, 1, b"{}")),
    "a call whose encoding is longer than it": frame(BINARY, struct.pack("<BIII", 2, 1, 1, 1 << 31)),
    "a message on a topic": frame(BINARY, struct.pack("<BI", 1, 0) + b"data"),
    "an advertisement": frame(
        TEXT,
        b'{"op": "advertise", "channels": [{"id": 1, "topic": "rotor_command", "encoding": "cdr", "schemaName": ""}]}',
    ),
    "a deep nest": frame(TEXT, b"[" * 100_000),
    "an unmasked frame": b"\x81\x02{}",
    "a reserved opcode": frame(11, b"what"),
    "an oversized announcement": frame(BINARY, b"x", announced=1 << 40),
    "an oversized message": frame(BINARY, service_call(1, 1, b" " * (8 * MEGABYTE))),
    "an oversized text": frame(TEXT, b'{"op": "' + b"x" * (8 * MEGABYTE)),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_what_is_malformed_is_refused_and_the_server_unharmed(run: Run, what: str) -> None:
    with run.client() as client:
        client.until(lambda m: isinstance(m, dict) and m["op"] == "serverInfo")
        answered = False
        try:
            client.socket.sendall(MALFORMED[what])
            client.say(op="getParameters", parameterNames=[], id="still there")
            while True:
                opcode, payload = client.receive()
                message = json.loads(payload) if opcode == TEXT else {}
                answered |= opcode == CLOSE or message.get("op") in ("status", "serviceCallFailure")
                if opcode == CLOSE or message.get("id") == "still there":
                    break
        except (ConnectionError, OSError):
            answered = True
        assert answered or what in IGNORED, f"nobody objected to {what}"
    assert run.asked == []
    assert_well(run)


def test_a_call_that_is_refused_says_why(run: Run) -> None:
    with run.client() as client:
        offer = client_services(client)["/clock/step"]
        client.send(BINARY, service_call(offer, 5, b'{"tick": 3}'))
        refused = client.until(lambda m: isinstance(m, dict) and m["op"] == "serviceCallFailure")
    assert refused["callId"] == 5
    assert "/clock/step: unknown argument tick (valid: ticks)" in refused["message"]
    assert run.asked == []


def test_a_parameter_that_cannot_be_set_keeps_its_value_and_a_status_says_why(run: Run) -> None:
    with run.client() as client:
        client.until(lambda m: isinstance(m, dict) and m["op"] == "serverInfo")
        client.say(op="setParameters", parameters=[{"name": "paused", "value": 3}], id="set")
        status = client.until(lambda m: isinstance(m, dict) and m["op"] == "status")
        values = client.until(lambda m: isinstance(m, dict) and m["op"] == "parameterValues")
    assert status["message"] == "parameter paused cannot be set"
    assert values["parameters"][0]["value"] is False


def test_whoever_comes_late_gets_what_is_there(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "REPEAT_S", 0.0)
    run.publish(4)
    with run.client() as client:
        client.subscribe_all()
        missing = {TIME, MESSAGE}  # in either order: they wait in different queues

        def all_came(message: Any) -> bool:
            missing.difference_update(message[:1] if isinstance(message, bytes) else b"")
            return not missing

        client.until(all_came)


def test_the_last_time_is_told(run: Run) -> None:
    with run.client() as client:
        client.subscribe_all()
        for now in range(0, 1000, 10):
            run.server.time(now)
        client.until(lambda m: isinstance(m, bytes) and m[0] == TIME and struct.unpack_from("<Q", m, 1) == (990,))


def test_who_comes_late_hears_how_the_run_stands(run: Run) -> None:
    run.server.status("running", key=RUN)
    run.server.status("paused", key=RUN)
    heard: list[Any] = []

    def said(message: Any) -> bool:
        heard.append(message)
        return isinstance(message, dict) and message.get("message") == "paused"

    def advertised(message: Any) -> bool:
        return isinstance(message, dict) and message["op"] == "advertise"

    with run.client() as client:  # one server says it before it names the channels, one when a channel is asked for
        client.until(lambda m: said(m) or advertised(m))
        if advertised(heard[-1]):
            channel = heard[-1]["channels"][0]["id"]
            client.say(op="subscribe", subscriptions=[{"id": channel, "channelId": channel}])
            client.until(said)
    assert "running" not in [m.get("message") for m in heard if isinstance(m, dict)]


def test_a_port_that_is_taken_is_named_with_one_that_is_free(run: Run) -> None:
    host, port = run.address
    with pytest.raises(InputError, match=f"port {port} of {host} is in use; \\d+ is free: viewer_port="):
        free_port(host, port)


@pytest.mark.parametrize(
    ("host", "error"), [("no.such.host.invalid", "is not known"), ("192.0.2.1", "is no address of this machine")]
)
def test_a_host_that_is_not_this_machines_is_refused(host: str, error: str) -> None:
    with pytest.raises(InputError, match=error):
        free_port(host, None)
