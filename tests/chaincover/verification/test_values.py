"""What people read of a document is not left to its writer: ``verify`` works it out by code of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from unittest import mock

import pytest
from command_line import fresh_names

from benchmarks.checks.fuzz.documents import SEVERAL, made
from benchmarks.checks.fuzz.mutations import Place, changed, path_of, places, value_at
from benchmarks.checks.fuzz.results import other_values
from bmc.errors import ChainCoverError
from chaincover.verification import fields
from chaincover.verification.report import WRONG
from chaincover.verification.several import TOGETHER

READ = (
    "bounds.length",
    "bounds.lower",
    "bounds.gap",
    "bounds.minimal",
    "bounds.k_met",
    "goals.verdict",
    "goals.step",
    "chain.length",
    "chain.order",
    "chain.hits.goal",
    "chain.hits.step",
    "chain.hits.consequent_held",
    "requirements.rulings.ruling",
    "requirements.rulings.step",
)
"""Length, bound, order, and what is said of each goal and of each requirement."""


@pytest.fixture(scope="module", autouse=True)
def _on_the_model() -> Iterator[None]:
    with fresh_names(), mock.patch.dict(os.environ, CHAINCOVER_NO_NATIVE="1"):
        yield


def places_read(kind: str) -> list[Place]:
    """The places of such values in a document, one for each path and value."""
    document = made(kind)[1]
    known = {
        (path_of(place), repr(value_at(document, place))): place for place in places(document) if path_of(place) in READ
    }
    return list(known.values())


@pytest.mark.parametrize("kind", ["failure", "held", "late"])
def test_a_writer_that_renders_what_the_file_says_hides_no_wrong_value(kind: str) -> None:
    """The document made again is the one in the file, whatever stands there: values are found out all the same."""
    kept, document = made(kind)
    passed = []
    for place in places_read(kind):
        for other in other_values(value_at(document, place))[:1]:
            forged = changed(document, (place, other))
            copied = json.loads(json.dumps(forged))
            try:
                with mock.patch.object(fields, "chain_document", return_value=copied):
                    found = kept.verify(forged)
            except ChainCoverError:
                continue
            if WRONG not in {line.verdict for line in found.lines}:
                passed.append(f"{path_of(place)} {place}: {other!r}")
    assert passed == []


def test_the_number_of_the_chain_of_a_goal_is_checked() -> None:
    kept, summary = made(SEVERAL)
    place = next(n for n, verdict in enumerate(summary["verdicts"]) if verdict["detail"] == "chain 2")
    found = kept.verify_chains(changed(summary, (("verdicts", place, "detail"), "chain 1")))
    assert next(line.verdict for line in found.lines if line.check == TOGETHER) == WRONG


def test_informative_fields_that_no_document_of_several_chains_has_are_unknown_there() -> None:
    kept, summary = made(SEVERAL)
    found = kept.verify_chains({**summary, "gave_up": ["layers"]})
    assert "gave_up is no field" in next(line.details for line in found.lines if line.check == fields.FIELDS)
