"""A result file with a value of the wrong type: the message names the place, and what was expected there."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from command_line import MODELS, chaincover

from bmc.errors import InputRefused
from chaincover.formats.document import read_document


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("damage")
    chaincover("generate", MODELS / "latch", "--no-replay", "-o", folder / "out")
    found: dict[str, Any] = json.loads((folder / "out" / "chain.json").read_text())
    return found


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("settings",), None, "settings is not an object"),
        (("bounds",), [], "bounds is not an object"),
        (("goals",), 7, "goals is not a list"),
        (("chain",), 7, "chain is not an object or null"),
        (("chain", "hits"), None, "chain.hits is not a list"),
        (("chain", "steps", 0), 3, "chain.steps[0] is not an object"),
        (("chain", "hits", 0, "step"), "two", "chain.hits[0].step is not a whole number"),
    ],
)
def test_the_place_of_a_value_of_the_wrong_type_is_told(
    written: dict[str, Any], place: tuple[str | int, ...], value: object, told: str, tmp_path: Path
) -> None:
    data: Any = deepcopy(written)
    part = data
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    (tmp_path / "chain.json").write_text(json.dumps(data))
    ended = [chaincover(command, MODELS / "latch", tmp_path / "chain.json") for command in ("verify", "replay")]
    refused = [each.err for each in ended if "damaged" in each.err]
    assert refused
    assert {each.rpartition("the chain is damaged: ")[2].splitlines()[0] for each in refused} == {told}


def test_no_message_is_in_words_of_python(written: dict[str, Any], tmp_path: Path) -> None:
    place, refused = tmp_path / "chain.json", []
    for key, value in ((key, value) for key in written for value in (None, [], 7, "x", {}, True)):
        place.write_text(json.dumps({**written, key: value}))
        try:
            read_document(place)
        except InputRefused as error:
            refused.append(error.message)
    assert len(refused) > 20
    assert not [text for text in refused for word in ("object is", "indices", "object of", "attribute") if word in text]
