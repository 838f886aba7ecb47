"""Masking MC/DC of the burner by hand: its decisions, when each is evaluated, and its conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks import FOLDER

MODELS = FOLDER / "models"


@dataclass(frozen=True, slots=True)
class Decision:
    """A chain of literals joined by ``joint``.

    ``text`` is where it begins in the source, its ``occurrence``-th time; ``when`` is the condition under which it is
    evaluated. Both, and the literals, are over the state ``b`` and the input ``s`` before the step, and over the state
    ``a`` after it.
    """

    text: str
    when: str
    joint: str
    literals: tuple[str, ...]


BURNER = (
    Decision("if (s->demand && !s->flame && s->air && !s->reset)", "b->mode == OFF", "&&",
             ("s->demand", "!s->flame", "s->air", "!s->reset")),
    Decision("if (s->flame && !s->demand)", "b->mode == OFF && !(s->demand && !s->flame && s->air && !s->reset)", "&&",
             ("s->flame", "!s->demand")),
    Decision("if (!s->demand || s->reset)\n", "b->mode == PURGE", "||", ("!s->demand", "s->reset")),
    Decision("if (s->air && !s->flame)", "b->mode == PURGE && s->demand && !s->reset", "&&", ("s->air", "!s->flame")),
    Decision("if (s->flame)\n", "b->mode == PURGE && s->demand && !s->reset && !(s->air && !s->flame)", "&&",
             ("s->flame",)),
    Decision("if (s->flame && s->air && s->demand)", "b->mode == IGNITE", "&&", ("s->flame", "s->air", "s->demand")),
    Decision("if (!s->demand || !s->air)", "b->mode == IGNITE && !(s->flame && s->air && s->demand)", "||",
             ("!s->demand", "!s->air")),
    Decision("if (b->tries >= TRIES)", "b->mode == IGNITE && s->demand && s->air && !s->flame", "&&",
             ("a->tries >= TRIES",)),
    Decision("if (!s->demand || s->reset || !s->air)", "b->mode == BURN", "||", ("!s->demand", "s->reset", "!s->air")),
    Decision("if (!s->flame)\n", "b->mode == BURN && s->demand && !s->reset && s->air", "&&", ("!s->flame",)),
    Decision("b->tries > 0 ?", "b->mode == BURN && s->demand && !s->reset && s->air && !s->flame", "&&",
             ("b->tries > 0",)),
    Decision("if (!s->flame && s->air)", "b->mode == COOL", "&&", ("!s->flame", "s->air")),
    Decision("s->demand && !s->reset ?", "b->mode == COOL && !s->flame && s->air", "&&", ("s->demand", "!s->reset")),
    Decision("if (s->flame && s->reset)", "b->mode == COOL && !(!s->flame && s->air)", "&&", ("s->flame", "s->reset")),
    Decision("if (s->reset && !s->flame && !s->demand)", "b->mode == LOCKED", "&&",
             ("s->reset", "!s->flame", "!s->demand")),
    Decision("b->mode == IGNITE || b->mode == BURN", "1", "||", ("a->mode == IGNITE", "a->mode == BURN")),
)  # fmt: skip


def goals_of_decisions(model: str) -> Iterator[tuple[str, str, str]]:
    """Name, condition before the step, and condition after it (``a`` and ``b`` may be used in both)."""
    assert model == "burner"
    source = (MODELS / "burner" / "burner.c").read_text()
    for decision in BURNER:
        assert source.count(decision.text) == 1, decision.text
        before = source[: source.index(decision.text)]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        for number, literal in enumerate(decision.literals, 1):
            for holds in (True, False):
                value = holds != literal.startswith("!")
                name = f"mcdc:{line}:{column}.{number}={'true' if value else 'false'}"
                yield name, f"({decision.when}) && {decides(decision, number - 1, holds)}", "1"


def decides(decision: Decision, place: int, holds: bool) -> str:
    """The literal at ``place`` is evaluated, has the value, and no operand evaluated after it settles the result."""
    goes_on = decision.joint == "&&"  # the value with which the next literal is evaluated
    before = [literal if goes_on else f"!({literal})" for literal in decision.literals[:place]]
    own = decision.literals[place] if holds else f"!({decision.literals[place]})"
    after = [literal if goes_on else f"!({literal})" for literal in decision.literals[place + 1 :]]
    return " && ".join(f"({part})" for part in [*before, own, *(after if holds is goes_on else [])])
