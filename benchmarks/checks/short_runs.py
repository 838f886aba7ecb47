"""Searches that come soon to what a check is about: random runs without their long turn, and stages left out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

from chaincover import pipeline
from chaincover.stages import FIRST_TURN, Stage


@contextmanager
def short_runs(*without: str) -> Iterator[None]:
    """The longest first turn of random runs is as short as that of other stages; the stages ``without`` have none.

    For goals that no random run covers: all that follows waits for the end of that turn.
    """

    def short(stage: Stage) -> Stage:
        is_long = stage.name == "simulate" and stage.first_turn == pipeline.LONG
        return replace(stage, first_turn=FIRST_TURN) if is_long else stage

    stages = tuple(short(stage) for stage in pipeline.STAGES if stage.name not in without)
    with mock.patch.object(pipeline, "STAGES", stages):
        yield
