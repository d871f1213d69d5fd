"""Viewers that misbehave, and one that does not: raw WebSocket connections."""

import base64
import json
import os
import socket
import struct
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

TEXT, BINARY, CLOSE = 1, 2, 8
TIME, MESSAGE = 2, 1


class Client:
    """One connection, frame by frame."""

    def __init__(
        self,
        address: tuple[str, int],
        subprotocol: str,
        receive_buffer: int | None = None,
        origins: Sequence[str] = (),
    ) -> None:
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(30)
        self.socket.connect(address)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET / HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Protocol: {subprotocol}\r\n".encode()
            + "".join(f"Origin: {origin}\r\n" for origin in origins).encode()
            + b"\r\n"
        )
        self._buffer = b""
        while b"\r\n\r\n" not in self._buffer:
            self._more()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        if b" 101 " not in head:
            raise PermissionError(head.decode())

    def _more(self) -> None:
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError("the server closed the connection")
        self._buffer += data

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._more()
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def send(self, opcode: int, payload: bytes) -> None:
        """One frame, masked."""
        self.socket.sendall(frame(opcode, payload))

    def say(self, **message: Any) -> None:
        """One JSON message."""
        self.send(TEXT, json.dumps(message).encode())

    def receive(self) -> tuple[int, bytes]:
        """Opcode and payload of the next message. Raises ConnectionError when there is none any more."""
        opcode, payload, last = self._frame()
        while not last:
            continued, more, last = self._frame()
            assert continued == 0, "a message within another"
            payload += more
        return opcode, payload

    def _frame(self) -> tuple[int, bytes, bool]:
        first, second = self._take(2)
        size = second & 127
        if size == 126:
            (size,) = struct.unpack(">H", self._take(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", self._take(8))
        return first & 15, self._take(size), bool(first & 128)

    def until(self, wanted: Any) -> Any:
        """The first received message of which ``wanted(json or bytes)`` is true."""
        while True:
            opcode, payload = self.receive()
            message = json.loads(payload) if opcode == TEXT else payload
            if opcode == CLOSE:
                raise ConnectionError("the server said goodbye")
            if wanted(message):
                return message

    def subscribe_all(self) -> list[Any]:
        """Subscribe to every channel; returns them."""
        channels = self.until(lambda m: isinstance(m, dict) and m["op"] == "advertise")["channels"]
        while len(channels) < 2:
            channels += self.until(lambda m: isinstance(m, dict) and m["op"] == "advertise")["channels"]
        self.say(op="subscribe", subscriptions=[{"id": c["id"], "channelId": c["id"]} for c in channels])
        return channels

    def close(self) -> None:
        """Without a word."""
        self.socket.close()

    def reset(self) -> None:
        """As a viewer that is killed."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()


def frame(opcode: int, payload: bytes, announced: int | None = None) -> bytes:
    """A masked frame, which may announce more than it has."""
    size = len(payload) if announced is None else announced
    head = bytes([0x80 | opcode])
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 65536:
        head += bytes([0x80 | 126]) + struct.pack(">H", size)
    else:
        head += bytes([0x80 | 127]) + struct.pack(">Q", size)
    return head + b"\0\0\0\0" + payload  # a mask of zeros leaves the payload as it is


def service_call(service: int, call: int, payload: bytes, encoding: bytes = b"json") -> bytes:
    """A binary message that calls a service."""
    return struct.pack("<BIII", 2, service, call, len(encoding)) + encoding + payload
