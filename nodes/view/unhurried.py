"""The library's server of protocol foxglove.websocket.v1, made so that no viewer waits for another.

The library sends to one viewer after another and waits for one that does not read. Here a viewer whose connection is
full is left out, and what it misses is counted.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Sequence
from typing import Any

from foxglove_websocket.server import FoxgloveServer, MessageDataHeader, ServiceCallRequestHeader, TimeDataHeader
from foxglove_websocket.types import BinaryOpcode, ClientBinaryOpcode, StatusLevel
from websockets.exceptions import ConnectionClosed

from graph.errors import InputError
from nodes.view.server import RUN

FULL_BYTES = 32 * 1024
"""Unsent bytes of a connection from which on its viewer gets nothing; sending does not wait below 64 KiB."""
AT_ONCE = 64
"""Messages that a viewer is sent at once."""
Message = tuple[int, int, bytes]
"""Channel, time in ns, data."""
LEVELS = {"info": StatusLevel.INFO, "warning": StatusLevel.WARNING, "error": StatusLevel.ERROR}


class Unhurried(FoxgloveServer):  # type: ignore[misc]
    """Leaves out viewers that do not read, and answers a call that fails."""

    dropped = 0
    start_ns: int
    graph: dict[str, Any]
    standing: Callable[[], tuple[str, str]]

    def send_messages(self, messages: Sequence[Message]) -> None:
        """Each to those who subscribed to its channel and keep up."""
        for client in self._clients:
            subscribed, connection = client.subscriptions_by_channel, client.connection
            wanted = [message for message in messages if message[0] in subscribed] if connection.open else []
            # Straight to the transport, and many at once: the library writes each message in three pieces of their own.
            for begin in range(0, len(wanted), AT_ONCE):
                if _is_full(connection):
                    self.dropped += len(wanted) - begin
                    break
                parts = []
                for channel, time_ns, data in wanted[begin : begin + AT_ONCE]:
                    parts += [_head(MessageDataHeader.size + len(data))]
                    parts += [MessageDataHeader.pack(BinaryOpcode.MESSAGE_DATA, subscribed[channel], time_ns), data]
                connection.transport.write(b"".join(parts))

    async def broadcast_time(self, timestamp: int) -> None:
        message = TimeDataHeader.pack(BinaryOpcode.TIME, timestamp)
        for client in self._clients:
            if not _is_full(client.connection):
                with contextlib.suppress(ConnectionClosed):
                    await client.connection.send(message)

    async def _send_server_info(self, connection: Any) -> None:
        """Then the run's beginning, so that a viewer's time axes count from there, and how things stand."""
        await super()._send_server_info(connection)
        await connection.send(TimeDataHeader.pack(BinaryOpcode.TIME, self.start_ns))
        text, level = self.standing()
        if text:
            await self._send_status(connection, LEVELS[level], text, RUN)

    async def _handle_client_text_message(self, client: Any, message: Any) -> None:
        if message["op"] == "subscribeConnectionGraph":  # of which the library knows nothing
            await self._send_json(client.connection, self.graph)
        elif message["op"] != "unsubscribeConnectionGraph":
            await super()._handle_client_text_message(client, message)

    async def _send_json(self, connection: Any, msg: Any) -> None:
        if _is_full(connection):
            self.dropped += 1
            return
        await super()._send_json(connection, msg)

    async def _handle_client_binary_message(self, client: Any, message: bytes) -> None:
        try:
            _check_call(message)
            await super()._handle_client_binary_message(client, message)
        except Exception as error:
            if not _is_call(message) or len(message) < ServiceCallRequestHeader.size:
                raise
            _, service, call, _ = ServiceCallRequestHeader.unpack_from(message)
            failure: Any = {"op": "serviceCallFailure", "serviceId": service, "callId": call, "message": str(error)}
            await self._send_json(client.connection, failure)


def _is_call(message: bytes) -> bool:
    return len(message) > 0 and message[0] == ClientBinaryOpcode.SERVICE_CALL_REQUEST


def _check_call(message: bytes) -> None:
    """Raises InputError for a service call that is cut off, of which the library would make something."""
    if not _is_call(message):
        return
    size = ServiceCallRequestHeader.size
    if len(message) < size or len(message) < size + ServiceCallRequestHeader.unpack_from(message)[3]:
        raise InputError("a service call is cut off")


def _head(size: int) -> bytes:
    """What stands before a binary message of ``size`` bytes in an unmasked frame (RFC 6455, 5.2)."""
    if size < 126:
        return struct.pack(">BB", 0x82, size)
    return struct.pack(">BBH", 0x82, 126, size) if size < 1 << 16 else struct.pack(">BBQ", 0x82, 127, size)


def _is_full(connection: Any) -> bool:
    transport = connection.transport
    return transport is not None and transport.get_write_buffer_size() > FULL_BYTES
