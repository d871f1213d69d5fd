"""Makes a complete bag of one that was cut off."""

import contextlib
import zlib
from pathlib import Path
from typing import NamedTuple

from graph.bag.container import Container
from graph.bag.reader import Bag
from graph.bag.scan import Chunk, Metadata, Scan, scan_file
from graph.bag.writer import Counts
from graph.errors import InputError
from graph.files import whole


class Recovered(NamedTuple):
    """Messages per topic in the new bag, and what is wrong with the old one (`None`: it was complete)."""

    counts: Counts
    damage: str | None


def recover(source: str | Path, target: str | Path) -> Recovered:
    """Copies everything in front of the first damage of `source` into the complete bag `target`.

    Then it reads `target` back and compares.
    The smallest unit is a chunk: half of one has no CRC that could vouch for it. A complete bag is copied as it is,
    byte for byte, when this package wrote it. Raises InputError when `source` has no message to recover or `target`
    exists; then no file is written.
    """
    source, target = Path(source), Path(target)
    found = scan_file(source)
    if not found.counts:
        damage = found.damage or "the bag is complete, without messages"
        raise InputError(f"{source}: there is no message to recover: {damage}")
    container = Container(target, found.header, exclusive=True)
    try:
        _copy(found, container)
        counts = _check(found, target)
    except BaseException:
        target.unlink()
        raise
    finally:
        container.close()
    return Recovered(counts, found.damage)


def complete(path: str | Path) -> None:
    """Completes, in place, a bag whose writer was killed: cut off, or with a part of an overwritten preview at its end.

    One that is complete, and one with nothing to recover, stay as they are.
    """
    path = Path(path)
    with contextlib.suppress(InputError, OSError):
        if scan_file(path).damage is not None:
            with whole(path) as beside:
                recover(path, beside)


def _copy(found: Scan, container: Container) -> None:
    for part in found.parts:
        if isinstance(part, Metadata):
            container.add_metadata(part.name, part.record)
        elif isinstance(part, Chunk):
            content = part.content
            container.add_chunk(
                part.head.compression,
                part.compressed,
                len(content.data),
                zlib.crc32(content.data),
                content.heads["channel"],
                content.heads["log_time"],
                content.offsets,
            )
        else:
            container.add_attachment(part)
    container.finish(list(found.schema_records.values()), list(found.channel_records.values()))


def _check(found: Scan, target: Path) -> Counts:
    """Counts of the bag written; InputError when it does not hold exactly what was found."""
    written = scan_file(target)
    if written.damage or _contents(written) != _contents(found):
        raise InputError(f"{target}: does not hold what was written: {written.damage or 'records differ'}")
    return Bag(target, written).counts


def _contents(scan: Scan) -> list[object]:
    return [part.content.data if isinstance(part, Chunk) else part for part in scan.parts]
