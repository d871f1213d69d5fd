"""A live session with its viewer, and the viewers of this folder's Node scripts."""

import json
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

FOLDER = Path(__file__).parent
NODE = shutil.which("node")
COMMAND = [sys.executable, "-c", "from tools.cli import main; main()"]
SUBPROTOCOLS = {"sdk.v1": "foxglove.sdk.v1", "websocket.v1": "foxglove.websocket.v1"}


def missing() -> str:
    """Why the Node scripts cannot run here; empty when they can."""
    if NODE is None:
        return "there is no node: install Node.js 20 or newer"
    if not (FOLDER / "node_modules" / "@foxglove" / "ws-protocol").is_dir():
        return "run npm install in tests/browser first"
    return ""


class Live:
    """``holeshot launch sitl --viewer`` as a user starts it, in a block: killed at its end if it still runs.

    It flies slowly, so that the run is not over before a viewer on a busy machine has connected.
    """

    def __init__(self, bag: Path, *arguments: str, rate: str = "0.1", name: str = "sitl") -> None:
        self.bag = bag
        options = ["--viewer", "--rate", rate, "--record", str(bag), "--json"]
        self._command = [*COMMAND, "launch", name, *arguments, *options]

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=FOLDER.parents[1]
        )
        assert self.process.stderr is not None
        self.said = ""
        self.url = ""
        for line in self.process.stderr:
            self.said += line
            found = re.match(r" +(ws://\S+) ", line)
            if found:
                self.url = found[1]
                break
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        assert self.url, self.said
        return self

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said += line

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None and kind is not None:
            self.process.kill()
        self.result()
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.stdout.close()
        self.process.stderr.close()

    def result(self) -> int:
        """Wait for the end; the exit code."""
        code = self.process.wait(timeout=120)
        self._reader.join(timeout=10)
        return code

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        host, _, port = self.url.removeprefix("ws://").rpartition(":")
        return host, int(port)


def node(script: str, *arguments: str) -> Any:
    """What a Node script of this folder prints, as JSON."""
    assert NODE is not None
    command = [NODE, str(FOLDER / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def viewer(live: Live, protocol: str, *plan: dict[str, Any]) -> Any:
    """What a viewer sees that follows a plan."""
    return node("viewer.mjs", live.url, SUBPROTOCOLS[protocol], json.dumps(plan))


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A step of a plan: call a service."""
    return {"do": "call", "name": name, "args": arguments}
