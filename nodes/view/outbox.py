"""A viewer's connection that makes nobody wait: what it is sent goes to a queue, and from there as fast as it is taken.

What the protocol says is kept in full. Of messages the newest are kept, of times the last.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterable
from typing import Any

from websockets.legacy.server import WebSocketServerProtocol
from websockets.protocol import State

TEXT, BINARY = 0x81, 0x82
"""First byte of an unmasked frame that is a whole message (RFC 6455, 5.2)."""
MOST_SAID = 1000
"""Frames of the protocol itself that may wait; a viewer that takes none for so long is cut off."""
MOST_MESSAGES = 1024
MOST_BYTES = 8 << 20
"""Of messages that wait; one always may."""


class Losses:
    """Counts messages that were dropped, of all viewers there were."""

    count = 0


class Outbox(WebSocketServerProtocol):
    """The connection of one viewer."""

    def __init__(self, *args: Any, losses: Losses, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._losses = losses
        self._full = False
        self._said: deque[bytes] = deque()
        self._newest_time: bytes | None = None
        self._offered: deque[bytes] = deque()
        self._offered_bytes = 0  # of messages

    async def send(self, message: Any) -> None:
        """Whatever the library says: one frame, in its order."""
        await self.ensure_open()  # raises ConnectionClosed
        whole = message if isinstance(message, str | bytes) else b"".join(message)
        self._said.append(framed(TEXT, whole.encode()) if isinstance(whole, str) else framed(BINARY, whole))
        if len(self._said) > MOST_SAID:
            self.transport.abort()
        self.flush()

    def tell_time(self, message: bytes) -> None:
        """The time; one that was not sent yet is forgotten."""
        self._newest_time = framed(BINARY, message)
        self.flush()

    def offer(self, messages: Iterable[bytes]) -> None:
        """Messages, as far as there is room: when they are taken too slowly, the oldest are dropped."""
        for message in messages:
            self._offered.append(framed(BINARY, message))
            self._offered_bytes += len(self._offered[-1])
        # What is written already leaves room for what is to be dropped otherwise.
        self.flush()
        while len(self._offered) > MOST_MESSAGES or (self._offered_bytes > MOST_BYTES and len(self._offered) > 1):
            self._offered_bytes -= len(self._offered.popleft())
            self._losses.count += 1

    @property
    def waiting(self) -> bool:
        """Whether there is something that was not taken yet."""
        return self.open and (self._full or bool(self._said or self._offered or self._newest_time))

    def flush(self) -> None:
        """Write until the connection has enough."""
        while self.state is State.OPEN and not self._full:
            chunk: list[bytes] = []
            size = 0
            while size < self.write_limit and (frame := self._next()) is not None:
                chunk.append(frame)
                size += len(frame)
            if not chunk:
                return
            self.transport.write(b"".join(chunk))

    def _next(self) -> bytes | None:
        if self._said:
            return self._said.popleft()
        if self._newest_time is not None:
            frame, self._newest_time = self._newest_time, None
            return frame
        if self._offered:
            frame = self._offered.popleft()
            self._offered_bytes -= len(frame)
            return frame
        return None

    def pause_writing(self) -> None:
        """The connection has enough."""
        super().pause_writing()
        self._full = True

    def resume_writing(self) -> None:
        """The connection has room again."""
        super().resume_writing()
        self._full = False
        self.flush()


def framed(first: int, payload: bytes) -> bytes:
    """An unmasked frame that is a whole message."""
    size = len(payload)
    if size < 126:
        return struct.pack(">BB", first, size) + payload
    if size < 1 << 16:
        return struct.pack(">BBH", first, 126, size) + payload
    return struct.pack(">BBQ", first, 127, size) + payload
