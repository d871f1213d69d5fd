"""The library's server of protocol foxglove.websocket.v1, made so that no viewer waits for another.

The library sends to one viewer after another and waits for one that does not read; here each has its outbox.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from foxglove_websocket.server import FoxgloveServer, MessageDataHeader, ServiceCallRequestHeader, TimeDataHeader
from foxglove_websocket.types import BinaryOpcode, ClientBinaryOpcode, StatusLevel

from graph.errors import InputError
from nodes.view.server import RUN

Message = tuple[int, int, bytes]
"""Channel, time in ns, data."""
LEVELS = {"info": StatusLevel.INFO, "warning": StatusLevel.WARNING, "error": StatusLevel.ERROR}


class Unhurried(FoxgloveServer):  # type: ignore[misc]
    """Sends without waiting, answers a call that fails, and minds what the library does not check."""

    start_ns: int
    graph: dict[str, Any]
    standing: Callable[[], tuple[str, str]]

    def send_messages(self, messages: Sequence[Message]) -> None:
        """Each to those who subscribed to its channel."""
        for client in self._clients:
            subscribed = client.subscriptions_by_channel
            client.connection.offer(
                MessageDataHeader.pack(BinaryOpcode.MESSAGE_DATA, subscribed[channel], time_ns) + data
                for channel, time_ns, data in messages
                if channel in subscribed
            )

    def tell_time(self, now_ns: int) -> None:
        """To everybody."""
        message = TimeDataHeader.pack(BinaryOpcode.TIME, now_ns)
        for client in self._clients:
            client.connection.tell_time(message)

    @property
    def waiting(self) -> bool:
        """Whether some viewer has not taken yet what it is sent."""
        return any(client.connection.waiting for client in self._clients)

    def cut_off(self) -> None:
        """End the connections of those who have not."""
        for client in self._clients:
            if client.connection.waiting:
                client.connection.transport.abort()

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
            _check_ids(message)
            await super()._handle_client_text_message(client, message)

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


def _check_ids(message: Any) -> None:
    """Raises InputError for a subscription whose id no message could carry."""
    for subscription in message["subscriptions"] if message["op"] == "subscribe" else ():
        number = subscription["id"]
        if type(number) is not int or not 0 <= number < 1 << 32:
            raise InputError(f"subscription id {number!r}: must be a whole number of 32 bits")
