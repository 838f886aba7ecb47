"""Files of another version are refused with a message that says so, by every command that reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import MODELS, chaincover

CRUISE = MODELS / "cruise"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert chaincover("generate", CRUISE, "--no-replay", "-q", "-o", tmp_path / "o").code == 0
    return tmp_path / "o"


def in_schema(place: Path, schema: object) -> Path:
    place.write_text(json.dumps({**json.loads(place.read_text()), "schema": schema}))
    return place


@pytest.mark.parametrize("command", ["replay", "verify"])
def test_an_older_chain_is_refused(command: str, folder: Path) -> None:
    outcome = chaincover(command, CRUISE, in_schema(folder / "chain.json", "chaincover/chain/1"))
    assert outcome.code == 3
    assert "this is no chain of the schema 'chaincover/chain/6'" in outcome.err
    assert "write it with 'chaincover generate'" in outcome.err


def test_a_chain_of_another_version_is_named_as_that(folder: Path) -> None:
    for command in ("replay", "verify"):
        outcome = chaincover(command, CRUISE, in_schema(folder / "chain.json", "chaincover/chain/7"))
        assert "of 'chaincover/chain/7', which another version of ChainCover has written" in outcome.err
    for other in ("chaincover/run/6", 2, None, "x"):
        outcome = chaincover("replay", CRUISE, in_schema(folder / "chain.json", other))
        assert outcome.code == 3
        assert "another version" not in outcome.err


def test_an_older_summary_is_refused(tmp_path: Path) -> None:
    assert chaincover("generate", CRUISE, "--several", "--no-replay", "-q", "-o", tmp_path).code == 0
    outcome = chaincover("verify", CRUISE, in_schema(tmp_path / "chains.json", "chaincover/chains/1"))
    assert outcome.code == 3
    assert "'chaincover/chains/6'" in outcome.err
