"""A file is whole or not there, and what is no file is written to as it is."""

import os
from pathlib import Path

import pytest

from graph.files import whole


def test_a_file_is_there_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    with whole(path) as part:
        part.write_text("all of it")
        assert not path.exists()
    assert path.read_text() == "all of it"
    assert list(tmp_path.iterdir()) == [path]


def test_one_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("yesterday's")

    def write_half() -> None:
        with whole(path) as part:
            part.write_text("half of")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_half()
    assert path.read_text() == "yesterday's"
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_stays_one() -> None:
    with whole(Path(os.devnull)) as part:
        part.write_text("nothing")
    assert Path(os.devnull).is_char_device()
