"""A batch's results on disk: what is done stays done, and a batch that was stopped goes on where it stopped."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from graph.errors import InputError, why
from graph.files import whole
from tools.batch.case import Case, Result

Key = tuple[str, int]
"""The values set, as text, and the seed."""


def key(values: Mapping[str, Any], seed: int) -> Key:
    """What a result is found by."""
    return json.dumps(values, sort_keys=True), seed


def identity(cases: Sequence[Case]) -> dict[str, Any]:
    """What a batch's results depend on beside the seed: what is flown, and the code that flies it."""
    digest = hashlib.sha256()
    for case in cases:
        texts = case.world.with_seed(0).resolved() | {
            "launch": case.session.provenance.attachments["launch.yaml"].decode()
        }
        digest.update(json.dumps(texts, sort_keys=True).encode())
    scenario = cases[0].world.scenario.name
    return {
        "scenario": scenario,
        "configuration": digest.hexdigest()[:16],
        "code": sorted({c.compiled.code for c in cases}),
    }


class Store:
    """The folder of a batch: ``batch.json`` says what is flown, ``runs.jsonl`` has a line for each run that is done."""

    def __init__(self, folder: Path, cases: Sequence[Case]) -> None:
        """Opens or creates the folder.

        Raises InputError when it holds another batch, another process writes to it, or it cannot be written.
        """
        self.folder = folder
        self.done: dict[Key, Result] = {}
        self._file: IO[str] | None = None
        wanted = identity(cases)
        head, self._path = folder / "batch.json", folder / "runs.jsonl"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._claim()
            if head.exists():
                self._resume(head, wanted)
            elif any(folder.iterdir()):
                raise InputError(f"--out {folder}: is not empty and holds no batch; name an empty or a new folder")
            else:
                with whole(head) as part:
                    part.write_text(json.dumps(wanted, indent=2) + "\n")
        except OSError as error:
            raise self._refused(error) from None

    def _claim(self) -> None:
        """Make the folder this batch's alone until it is done; some file systems have no locks."""
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise InputError(f"--out {self.folder}: another batch is writing to it, name another folder") from None
        except OSError:
            pass
        self._claimed = handle

    def _refused(self, error: OSError) -> InputError:
        return InputError(f"--out {self.folder}: {why(error)}")

    def _resume(self, head: Path, wanted: dict[str, Any]) -> None:
        try:
            found = json.loads(head.read_text())
            matches = {name: found[name] == wanted[name] for name in wanted}
        except (ValueError, KeyError, TypeError):
            raise InputError(f"--out {self.folder}: batch.json is not what a batch writes") from None
        if not all(matches.values()):
            what = next(name for name, same in matches.items() if not same)
            raise InputError(
                f"--out {self.folder}: holds a batch of another {what}; its results cannot be mixed with these, "
                "so name another folder"
            )
        if not self._path.exists():
            return
        lines = []
        for line in self._path.read_text(errors="replace").splitlines():
            try:
                result = json.loads(line)
                self.done[key(result.get("set", {}), result["seed"])] = result | {"score": result["score"]}
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # a line cut off when the batch was stopped; that run is flown again
            lines.append(line)
        with whole(self._path) as part:
            part.write_text("".join(f"{line}\n" for line in lines))

    def __enter__(self) -> Store:
        try:
            self._file = self._path.open("a")
        except OSError as error:
            raise self._refused(error) from None
        return self

    def add(self, result: Result) -> None:
        """Keep one more result, at once. Raises InputError when the disk does not take it."""
        assert self._file is not None
        self.done[key(result.get("set", {}), result["seed"])] = result
        try:
            self._file.write(json.dumps(result) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._refused(error) from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._file is not None
        with suppress(OSError):  # of a line that was refused
            self._file.close()
        os.close(self._claimed)
