"""Files are written whole or not at all; what is no file is written to and never replaced."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincover.formats.output import CannotWrite, to_json, write_text

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
DATA = st.recursive(SCALARS, lambda data: st.one_of(st.lists(data), st.dictionaries(st.text(), data)), max_leaves=6)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(DATA)
def test_json_is_that_of_the_standard_library(data: Any) -> None:
    assert to_json(data) == json.dumps(data, indent=2, ensure_ascii=False) + "\n"


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
