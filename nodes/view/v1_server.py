"""The server of protocol foxglove.websocket.v1: foxglove-websocket, in a thread of its own behind a bounded queue.

Nothing of the run ever waits for it: messages wait in a queue, whose oldest are dropped.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import Any

from foxglove_websocket.server import FoxgloveServerListener
from foxglove_websocket.types import StatusLevel

from graph.errors import InputError
from nodes.view.origin import is_welcome
from nodes.view.outbox import Losses, Outbox
from nodes.view.ports import CannotListen, url_of
from nodes.view.priority import give_way
from nodes.view.server import LINGER_S, TIME_PERIOD_S, Content, Server, Values
from nodes.view.services import RESPONSE
from nodes.view.unhurried import LEVELS, Message, Unhurried

BACKLOG = 1024
"""Messages that wait for viewers at most."""
WRITE_LIMIT = 32 * 1024
"""Bytes that wait in a connection before its viewer gets no more."""
POLL_S = 0.01
CLOSE_S = 1.0
START_S = 10.0

_quiet = logging.getLogger(__name__)
_quiet.setLevel(logging.CRITICAL)


class V1Server(Server, FoxgloveServerListener):  # type: ignore[misc]
    """One foxglove-websocket server."""

    def __init__(self, content: Content, host: str, port: int, origins: Sequence[str] = ()) -> None:
        """Listens at once; ``origins`` are those of further web pages to let in. Raises CannotListen."""
        super().__init__(content)
        self._origins = origins
        self.url = url_of(host, port)
        self._waiting: deque[Message] = deque(maxlen=BACKLOG)
        self._losses = Losses()
        self._now = content.start_ns
        self._woken = False
        self._calls = 0  # of services, not answered yet
        self._loop = asyncio.new_event_loop()
        self._pool = ThreadPoolExecutor(max_workers=4, thread_name_prefix="viewer")
        self._ready, self._problem = threading.Event(), ""
        self._thread = threading.Thread(target=self._run, args=(host, port), name="viewer", daemon=True)
        self._thread.start()
        if not self._ready.wait(START_S) or self._problem:
            raise CannotListen(host, port, self._problem or "no answer")

    def losses(self) -> Values:
        return {"viewer.dropped": self._losses.count}

    def _run(self, host: str, port: int) -> None:
        give_way([threading.get_native_id()])
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve(host, port))
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        if left:
            self._loop.run_until_complete(asyncio.wait(left, timeout=CLOSE_S))
        self._loop.close()

    async def _serve(self, host: str, port: int) -> None:
        content = self._content
        capabilities = ["time", "services", "parameters", "parametersSubscribe", "connectionGraph"]
        self._wake, self._over, self._time_moved = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._server = Unhurried(
            host,
            port,
            content.name,
            capabilities=capabilities,
            supported_encodings=["json"],
            session_id=str(time.time_ns()),
            logger=_quiet,
            server_kwargs={
                "create_protocol": partial(Outbox, losses=self._losses),
                "write_limit": WRITE_LIMIT,
                "compression": None,
                "close_timeout": CLOSE_S,
                "process_request": self._admit,
            },
        )
        self._server.start_ns = content.start_ns
        self._server.graph = _graph(content)
        self._server.standing = lambda: self.standing
        self._server.set_listener(self)
        self._server.start()
        opened = asyncio.ensure_future(self._server.wait_opened())
        await asyncio.wait({opened, self._server._task}, return_when=asyncio.FIRST_COMPLETED)
        if not opened.done():
            opened.cancel()
            self._problem = str(self._server._task.exception())
            self._ready.set()
            return
        for topic in content.topics:
            text = (
                topic.schema.decode() if topic.schema_encoding == "ros2msg" else base64.b64encode(topic.schema).decode()
            )
            await self._server.add_channel(
                {
                    "topic": topic.name,
                    "encoding": topic.encoding,
                    "schemaName": topic.schema_name,
                    "schema": text,
                    "schemaEncoding": topic.schema_encoding,
                }
            )
        for offer in content.services:
            request = {"encoding": "json", "schemaName": f"{offer.type_name}.Request", "schemaEncoding": "jsonschema"}
            response = {"encoding": "json", "schemaName": f"{offer.type_name}.Response", "schemaEncoding": "jsonschema"}
            service: Any = {
                "name": offer.name,
                "type": offer.type_name,
                "request": {**request, "schema": offer.schema.decode()},
                "response": {**response, "schema": RESPONSE.decode()},
            }
            await self._server.add_service(service)
        self._ready.set()
        senders = [asyncio.ensure_future(work) for work in (self._send(), self._tell_time())]
        await self._over.wait()
        self._server.tell_time(self._now)
        until = time.monotonic() + LINGER_S
        while (self._calls or self._waiting or self._server.waiting) and time.monotonic() < until:
            await asyncio.sleep(POLL_S)
        for sender in senders:
            sender.cancel()
        self._server.cut_off()
        self._server.close()
        await asyncio.wait({asyncio.ensure_future(self._server.wait_closed())}, timeout=CLOSE_S)

    async def _admit(self, path: str, headers: Any) -> Any:
        """None to let a connection in, else the response that it gets."""
        if is_welcome(headers.get_all("Origin"), self._origins):
            return None
        return HTTPStatus.FORBIDDEN, [], b"this page may not watch; its origin is to be named in viewer_origins\n"

    async def _send(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            self._woken = False
            messages = [self._waiting.popleft() for _ in range(len(self._waiting))]
            self._server.send_messages(messages)

    async def _tell_time(self) -> None:
        while True:
            await self._time_moved.wait()
            self._time_moved.clear()
            self._server.tell_time(self._now)
            await asyncio.sleep(TIME_PERIOD_S)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()

    def _signal(self, event: asyncio.Event) -> None:
        with suppress(RuntimeError):  # the server is over
            self._loop.call_soon_threadsafe(event.set)

    def time(self, now_ns: int) -> None:
        self._now = now_ns
        self._signal(self._time_moved)

    def send(self, topic: int, time_ns: int, data: bytes) -> None:
        if len(self._waiting) == BACKLOG:
            self._losses.count += 1
        self._waiting.append((topic, time_ns, data))
        if not self._woken:
            self._woken = True
            self._signal(self._wake)

    def send_status(self, text: str, level: str, key: str | None) -> None:
        self._soon(self._server.send_status(LEVELS[level], text, key))

    def changed(self, values: Values) -> None:
        self._soon(self._server.update_parameters([_parameter(n, v) for n, v in values.items()]))

    def close(self) -> None:
        self._signal(self._over)
        self._thread.join(2.0 * CLOSE_S)
        self._pool.shutdown(wait=False)

    async def on_subscribe(self, server: Any, channel_id: Any) -> None:
        """The first viewer of a topic gets what is there."""
        missed = self.missed(channel_id)
        if missed is not None:
            self._server.tell_time(self._now)
            self._server.send_messages([(channel_id, *missed)])

    async def on_service_request(
        self, server: Any, service_id: Any, call_id: Any, encoding: str, payload: bytes
    ) -> bytes:
        """Ask the run, which may take its time, without holding up others."""
        asked = self._content.services[service_id].asked(payload)
        self._calls += 1
        try:
            reply = await self._loop.run_in_executor(self._pool, self._content.ask, asked)
        finally:
            self._calls -= 1
        return json.dumps(reply).encode()

    async def on_get_parameters(self, server: Any, param_names: list[str], request_id: str | None) -> Any:
        """All parameters, or those named."""
        return [_parameter(name, value) for name, value in self.values(param_names).items()]

    async def on_set_parameters(self, server: Any, params: Any, request_id: str | None) -> Any:
        """Set what can be set; whatever cannot keeps its value, and a status says why."""
        for parameter in params:
            name, value = str(parameter["name"]), parameter.get("value")
            refusal = await self._loop.run_in_executor(self._pool, self.refusal, name, value)
            if refusal:
                await self._server.send_status(StatusLevel.WARNING, refusal, f"parameter {name}")
        return await self.on_get_parameters(server, [str(p["name"]) for p in params], request_id)

    async def on_parameters_subscribe(self, server: Any, param_name: list[str], subscribe: bool) -> None:
        """Nothing has to be prepared."""

    async def on_client_advertise(self, server: Any, channel: Any) -> None:
        """Refused: who publishes what is the wiring's business."""
        raise InputError(f"topic {channel['topic']}: viewers do not publish; topics are published as they are wired")

    async def on_client_message(self, server: Any, channel_id: Any, payload: bytes) -> None:
        """Refused, as its advertisement was."""
        raise InputError("viewers do not publish; topics are published as they are wired")


def _graph(content: Content) -> dict[str, Any]:
    published, heard = content.wiring.publishers, content.wiring.subscribers
    return {
        "op": "connectionGraphUpdate",
        "publishedTopics": [{"name": name, "publisherIds": list(nodes)} for name, nodes in published.items()],
        "subscribedTopics": [{"name": name, "subscriberIds": list(nodes)} for name, nodes in heard.items()],
        "advertisedServices": [{"name": offer.name, "providerIds": ["viewer"]} for offer in content.services],
        "removedTopics": [],
        "removedServices": [],
    }


def _parameter(name: str, value: Any) -> Any:
    kind = {"type": "float64"} if isinstance(value, float) else {}
    return {"name": name, "value": value, **kind}
