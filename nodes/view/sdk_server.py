"""The server of protocol foxglove.sdk.v1: foxglove-sdk, whose own bounded queues drop what a viewer does not take."""

from __future__ import annotations

import atexit
import json
import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

import foxglove
from foxglove import _foxglove_py
from foxglove.websocket import (
    Capability,
    PlaybackCommand,
    PlaybackControlRequest,
    PlaybackState,
    PlaybackStatus,
    ServerListener,
    StatusLevel,
)

from graph.errors import InputError
from nodes.view.behind import behind
from nodes.view.ports import CannotListen, url_of
from nodes.view.priority import give_way, own_threads
from nodes.view.server import LINGER_S, RUN, TIME_PERIOD_S, Content, Server, Values
from nodes.view.services import RESPONSE, ServiceOffer

STOP_S = 1.0
"""How long viewers have to say goodbye."""
LEVELS = {"info": StatusLevel.Info, "warning": StatusLevel.Warning, "error": StatusLevel.Error}


class SdkServer(Server, ServerListener):
    """One foxglove-sdk server."""

    def __init__(self, content: Content, host: str, port: int) -> None:
        """Listens at once. Raises CannotListen."""
        super().__init__(content)
        # What it would log takes the interpreter's lock amid sending, and would be among the run's own words.
        foxglove.set_log_level(logging.CRITICAL)
        context = self._context = foxglove.Context()  # kept: its channels close with it
        self._channels = [
            foxglove.Channel(
                topic.name,
                schema=foxglove.Schema(name=topic.schema_name, encoding=topic.schema_encoding, data=topic.schema),
                message_encoding=topic.encoding,
                context=context,
            )
            for topic in content.topics
        ]
        self._index = {topic.name: number for number, topic in enumerate(content.topics)}
        self._now = content.start_ns
        self._speed = 1.0
        self._plays = False  # some viewer has used its playback control
        self._viewers: set[int] = set()  # who has been here
        self._time_moved, self._closed = threading.Event(), False
        before = own_threads()
        try:
            self._server = foxglove.start_server(
                name=content.name,
                host=host,
                port=port,
                capabilities=[Capability.Time, Capability.Services, Capability.Parameters, Capability.ConnectionGraph],
                server_listener=self,
                supported_encodings=["json"],
                services=[_service(offer, self._call) for offer in content.services],
                context=context,
                playback_time_range=(content.start_ns, content.end_ns),
            )
        except RuntimeError as error:
            raise CannotListen(host, port, error) from None
        give_way(own_threads() - before)
        threading.Thread(target=self._tell_time, daemon=True).start()
        self._server.publish_connection_graph(_graph(content))
        self.url = url_of(host, self._server.port)

    def time(self, now_ns: int) -> None:
        self._now = now_ns
        self._time_moved.set()

    def _tell_time(self) -> None:
        while True:
            self._time_moved.wait()
            self._time_moved.clear()
            if self._closed:
                return
            self._server.broadcast_time(self._now)
            time.sleep(TIME_PERIOD_S)

    def jumped(self, now_ns: int) -> None:
        self._now = now_ns
        if self._plays:
            self._server.broadcast_playback_state(self._playback(self._content.parameters(), True, None))

    def send(self, topic: int, time_ns: int, data: bytes) -> None:
        self._channels[topic].log(data, log_time=time_ns)

    def send_status(self, text: str, level: str, key: str | None) -> None:
        self._server.publish_status(text, LEVELS[level], key)

    def changed(self, values: Values) -> None:
        self._server.publish_parameter_values([_parameter(name, value) for name, value in values.items()])
        if self._plays:  # older viewers do not know the message
            self._server.broadcast_playback_state(self._playback(self._content.parameters(), False, None))

    def losses(self) -> Values:
        return {"viewer.behind": behind(self._server.port)}

    def close(self) -> None:
        self._closed = True
        self._time_moved.set()
        self._server.broadcast_time(self._now)
        if self._viewers:
            time.sleep(LINGER_S)
        # It waits for viewers to take what is sent, and some never do: the process ends without its goodbye.
        stopping = threading.Thread(target=self._server.stop, daemon=True)
        stopping.start()
        stopping.join(STOP_S)
        if stopping.is_alive():
            atexit.unregister(_foxglove_py.shutdown)

    def _call(self, offer: ServiceOffer, payload: bytes) -> bytes:
        return json.dumps(self._content.ask(offer.asked(payload))).encode()

    def on_subscribe(self, client: Any, channel: Any) -> None:
        """Whoever comes late gets what is there: nothing is sent twice to a paused or a slow topic otherwise."""
        if client.id not in self._viewers:
            self._viewers.add(client.id)
            if self.standing[0]:
                self.send_status(*self.standing, RUN)
        missed = self.missed(self._index[channel.topic])
        if missed is not None:
            self._server.broadcast_time(self._now)
            self.send(self._index[channel.topic], *missed)

    def on_get_parameters(
        self, client: Any, param_names: list[str], request_id: str | None = None
    ) -> list[foxglove.Parameter]:
        """All parameters, or those named."""
        return [_parameter(name, value) for name, value in self.values(param_names).items()]

    def on_set_parameters(
        self, client: Any, parameters: Sequence[foxglove.Parameter], request_id: str | None = None
    ) -> list[foxglove.Parameter]:
        """Set what can be set; whatever cannot keeps its value, and a status says why."""
        for parameter in parameters:
            refusal = self.refusal(parameter.name, parameter.get_value())
            if refusal:
                self.status(refusal, "warning", f"parameter {parameter.name}")
        return self.on_get_parameters(client, [parameter.name for parameter in parameters])

    def on_playback_control_request(self, request: PlaybackControlRequest) -> PlaybackState:
        """Pause, resume and speed; and the time, of a recorded run. What is refused stays, and a status says why."""
        content, self._plays = self._content, True
        seeked = request.seek_time is not None and content.seek is not None
        if request.seek_time is not None and content.seek is not None:
            self._now = min(max(request.seek_time, content.start_ns), content.end_ns)
            content.seek(self._now)
        elif request.seek_time is not None:
            text = "the time of a live run cannot be chosen: open its bag with holeshot bag play BAG --viewer"
            self.status(text, "warning", "seek")
        try:
            if request.playback_speed > 0.0 and abs(request.playback_speed - self._speed) > 1e-6:
                content.ask({"kind": "rate", "factor": float(request.playback_speed)})
                self._speed = request.playback_speed
            play, values = request.playback_command == PlaybackCommand.Play, content.parameters()
            again = play and bool(values.get("ended")) and not seeked  # it begins anew, as the service resume does
            if play == bool(values["paused"]) or again:
                content.ask({"kind": "resume" if play else "pause"})
            if again:
                self._now, seeked = content.start_ns, True
        except InputError as error:
            self.status(str(error), "warning", "playback")
        return self._playback(content.parameters(), seeked, request.request_id)

    def _playback(self, values: Values, seeked: bool, request_id: str | None) -> PlaybackState:
        rate = values.get("rate")
        if isinstance(rate, int | float):
            self._speed = float(rate)
        status = PlaybackStatus.Paused if values.get("paused") else PlaybackStatus.Playing
        if values.get("ended"):
            status = PlaybackStatus.Ended
        return PlaybackState(status, self._now, self._speed, seeked, request_id)


def _parameter(name: str, value: Any) -> foxglove.Parameter:
    return foxglove.Parameter(name, value=value)


def _service(offer: ServiceOffer, call: Any) -> foxglove.Service:
    def schema(part: str, data: bytes) -> foxglove.MessageSchema:
        inner = foxglove.Schema(name=f"{offer.type_name}.{part}", encoding="jsonschema", data=data)
        return foxglove.MessageSchema(encoding="json", schema=inner)

    return foxglove.Service(
        offer.name,
        schema=foxglove.ServiceSchema(
            offer.type_name, request=schema("Request", offer.schema), response=schema("Response", RESPONSE)
        ),
        handler=lambda request: call(offer, request.payload),
    )


def _graph(content: Content) -> foxglove.ConnectionGraph:
    graph = foxglove.ConnectionGraph()
    for topic, nodes in content.wiring.publishers.items():
        graph.set_published_topic(topic, list(nodes))
    for topic, nodes in content.wiring.subscribers.items():
        graph.set_subscribed_topic(topic, list(nodes))
    for offer in content.services:
        graph.set_advertised_service(offer.name, ["viewer"])
    return graph
