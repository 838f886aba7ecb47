"""Files with forged fields: what ``verify`` accepts is told with its rule, and without one it is a fault."""

from __future__ import annotations

import os
from collections.abc import Iterator
from unittest import mock

import pytest
from command_line import fresh_names

from benchmarks.checks.fuzz import forging
from benchmarks.checks.fuzz.documents import made
from benchmarks.checks.fuzz.forging import INFORMS, NO_CHANGE, REFUSED, WITHOUT_RULE, alone, forged, lines, together
from benchmarks.checks.fuzz.mutations import path_of, places

LOWER, ENGINE = ("bounds", "lower"), ("settings", "engine")


@pytest.fixture(scope="module", autouse=True)
def _on_the_model() -> Iterator[None]:
    with fresh_names(), mock.patch.dict(os.environ, CHAINCOVER_NO_NATIVE="1"):
        yield


def test_a_forged_bound_is_refused_and_another_engine_informs() -> None:
    lower = made("failure")[1]["bounds"]["lower"]
    ends = [forged("failure", ((LOWER, value),)).end for value in (lower + 1, lower)]
    assert ends == [REFUSED, NO_CHANGE]
    assert forged("failure", ((ENGINE, "another"),)).end == INFORMS


def test_what_is_accepted_without_a_rule_is_a_fault() -> None:
    with mock.patch.object(forging, "found_out", return_value=False):
        found = forged("failure", ((LOWER, 1000), (ENGINE, "another")))
    assert (found.end, found.why) == (WITHOUT_RULE, "bounds.lower")
    assert [line for line in lines([found], None) if line.startswith("- ")] == [
        f'- {WITHOUT_RULE}: failure: bounds.lower = 1000; settings.engine = "another": bounds.lower'
    ]


def test_every_field_is_changed_alone_and_some_together() -> None:
    document = made("late")[1]
    changed = {path_of(place) for ((place, _),) in alone("late")}
    assert changed == {path_of(place) for place in places(document)}
    several = list(together("late", 30))
    assert len(several) == 30
    assert max(map(len, several)) > 1
    assert several == list(together("late", 30))


def test_what_an_earlier_revision_refuses_is_told() -> None:
    accepted = forged("failure", ((ENGINE, "another"),))
    earlier = mock.create_autospec(forging.Earlier, instance=True)
    earlier.refuses.return_value = True
    assert [*lines([accepted], earlier)][-2:] == [
        "of 1 kinds of accepted changes the earlier revision refuses 1",
        '- failure: settings.engine = "another" (informative: )',
    ]
