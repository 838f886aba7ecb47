"""Files are written whole or not at all; what is no file is written to and never replaced."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincover.formats.output import CannotWrite, json_parts, to_json, write_text, write_texts

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
DATA = st.recursive(SCALARS, lambda data: st.one_of(st.lists(data), st.dictionaries(st.text(), data)), max_leaves=6)


@pytest.mark.slow
@settings(max_examples=25, deadline=None, derandomize=True)
@given(DATA)
def test_json_is_that_of_the_standard_library(data: Any) -> None:
    assert to_json(data) == json.dumps(data, indent=2, ensure_ascii=False) + "\n"


class Countdown(Sequence[Any]):
    """A list that is made while it is read."""

    def __init__(self, size: int) -> None:
        self.size, self.made = size, 0

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, place: Any) -> Any:
        if place >= self.size:
            raise IndexError
        self.made += 1
        return {"left": self.size - place, "all": [1, 2]}


def test_a_list_that_is_made_while_it_is_read_is_written_item_by_item() -> None:
    rows = Countdown(4)
    parts = json_parts({"rows": rows, "empty": Countdown(0), "more": [Countdown(1)]})
    assert '"left": 4' in next(part for part in parts if "left" in part)
    assert rows.made == 1
    rest = [{"left": left, "all": [1, 2]} for left in (4, 3, 2, 1)]
    document = {"rows": rows, "empty": Countdown(0), "more": [Countdown(1)]}
    assert '    {"left": 2, "all": [1, 2]},\n' in to_json(document)  # a line each: a million of them are written
    assert json.loads(to_json(document)) == {"rows": rest, "empty": [], "more": [rest[3:]]}


def test_a_text_whose_parts_cannot_all_be_made_leaves_the_files_of_before(tmp_path: Path) -> None:
    def parts() -> Iterator[str]:
        yield "begun"
        raise ValueError("no number")

    write_text(tmp_path / "a", "old")
    with pytest.raises(ValueError, match="no number"):
        write_texts({tmp_path / "a": "new", tmp_path / "b": parts()})
    assert {place.name: place.read_text() for place in tmp_path.iterdir()} == {"a": "old"}


def test_a_link_keeps_being_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "nothing").symlink_to(os.devnull)
    write_text(tmp_path / "nothing", "text")
    assert stat.S_ISCHR((tmp_path / "nothing").stat().st_mode)


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    (tmp_path / "full").symlink_to("/dev/full")
    with pytest.raises(CannotWrite, match="No space left on device"):
        write_text(tmp_path / "full", "text")
    assert stat.S_ISCHR((tmp_path / "full").stat().st_mode)


def test_a_pipe_without_a_reader_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CannotWrite, match="No such device"):
        write_text(tmp_path / "pipe", "text")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_disk_that_fills_up_leaves_the_file_of_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(CannotWrite):
        write_text(tmp_path / "a", "new")
    assert [(place.name, place.read_text()) for place in tmp_path.iterdir()] == [("a", "old")]
