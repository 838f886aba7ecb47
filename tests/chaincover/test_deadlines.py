"""Chains through goals with deadlines against a search through all inputs that looks at each occurrence by itself."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import chaincover
from spelled_conditions import SOURCE, Requirement, drawn, goals_of, run_of

from bmc.system.transition import Run
from properties.goal import goal_length

LONGEST = 6
PROJECT = """\
[functions]
init = ["init"]
step = "compute"
[ranges]
a = "0..2"
rise = [0, 0]
"""


def runs(length: int) -> Iterator[Run]:
    """All runs of so many steps of the program, which copies its input."""
    for inputs in itertools.product(range(3), repeat=length):
        yield run_of([0, *inputs], [*inputs])


def known_after(wanted: list[Requirement], folder: Path) -> list[tuple[int, int]]:
    """For each requirement after how many steps its antecedent, and a check, are known: without what is folded away."""
    texts = [text for one in wanted for text in (f"cover({one.occurs.text})", f"cover({one.check.text})")]
    lengths = [goal_length([goal.antecedent], {"a", "rise"}) for goal in goals_of(folder, *texts)]
    looks_back = [back for one in wanted for back in (one.occurs.back, one.check.back)]
    told = [max(0, length - back) for length, back in zip(lengths, looks_back, strict=True)]
    return list(zip(told[::2], told[1::2], strict=True))


def decisions(one: Requirement, known: tuple[int, int], run: Run) -> list[tuple[int, bool]]:
    found = [one.decided(run, step, *known) for step in range(one.back, run.length + 1)]
    return [each for each in found if each is not None]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_shortest_chain_ends_once_each_claimed_occurrence_is_decided(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    wanted = [drawn(source) for _ in range(8)]
    known = known_after(wanted, tmp_path)
    short = [
        (one, told)
        for one, told in zip(wanted, known, strict=True)
        if one.last + one.later <= LONGEST and not goals_of(tmp_path, one.text)[0].length
    ][:2]  # without those whose deadline lies within the antecedent
    texts = [one.text for one, _ in short]
    assert texts
    shortest = next(
        (n for n in range(LONGEST + 1) for run in runs(n) if all(decisions(*one, run) for one in short)), None
    )
    failing = [
        next(
            (n for n in range(LONGEST + 1) for run in runs(n) if not all(held for _, held in decisions(*one, run))),
            None,
        )
        for one in short
    ]
    (tmp_path / "c.c").write_text(SOURCE)
    (tmp_path / "chaincover.toml").write_text("[sources]\nfiles = ['c.c']\n" + PROJECT)
    asked = [word for text in texts for word in ("--property", text)]
    outcome = chaincover("generate", tmp_path, *asked, "--no-replay", "-o", tmp_path / "out")
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    if shortest is not None:
        bounds = document["bounds"]
        assert (bounds["length"], bounds["lower"], bounds["minimal"]) == (shortest, shortest, True), texts
        assert outcome.code in (0, 1)
    for ruling, least in zip(document["requirements"]["rulings"], failing, strict=True):
        if least is not None:
            assert (ruling["ruling"], ruling["shortest"], ruling["step"]) == ("can fail", True, least), texts
    checked = chaincover("verify", tmp_path, tmp_path / "out")
    assert checked.code in (0, 1), checked.out
    if document["chain"] is not None:
        assert chaincover("replay", tmp_path, tmp_path / "out").code in (0, 1)


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize(
    ("begins", "text", "length", "fails"),
    [
        (0, "G(1 -> F[1,3](m < 2))", 1, None),
        (0, "G(m < 9 || m >= 9 -> G[2,3](m < 2))", 3, None),
        (5, "G(1 -> F[2,3](m < 2))", 2, None),
        (5, "G(X(1) -> F[2,4](m < 2))", 2, None),
        (5, "G(1 -> G[1,3](m < 2))", 3, None),
        (0, "G(1 -> F[1,3](b == 1))", 2, 4),
        (0, "G(m >= 0 -> G[1,3](b == 1))", 2, 2),
        (0, "G(0 -> F[1,3](m < 2))", None, None),
    ],
)
def test_no_occurrence_begins_before_the_first_step(
    begins: int, text: str, length: int | None, fails: int | None, tmp_path: Path
) -> None:
    """An antecedent that always holds: the first deadline is that of the start."""
    (tmp_path / "c.c").write_text(
        "typedef struct { unsigned char b; } t_input; typedef struct { unsigned char m; } t_state;\n"
        f"void init(t_state *s) {{ s->m = {begins}; }} void compute(t_input *i, t_state *s) {{ s->m = i->b & 1; }}\n"
    )
    options = ("--property", f"r: {text}", "--final", "none", "--no-replay")
    outcome = chaincover("generate", tmp_path / "c.c", *options, "-o", tmp_path / "out")
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    assert (document["bounds"]["length"], document["bounds"]["minimal"]) == (length, length is not None), outcome.out
    (ruling,) = document["requirements"]["rulings"]
    assert ruling["step"] == fails
    assert (ruling["ruling"] == "can fail") == (fails is not None)
    assert chaincover("verify", tmp_path / "c.c", tmp_path / "out").code == (0 if fails is None else 1)


def test_every_occurrence_that_fails_on_a_chain_is_told_and_verified(tmp_path: Path) -> None:
    """They overlap: while one waits, others begin."""
    (tmp_path / "c.c").write_text(
        "int on, n, off;\nvoid init(void) { n = 0; off = 0; }\n"
        "void step(void) { if (on && n < 6) n++; off = n == 6; }\n"
    )
    (tmp_path / "c.toml").write_text(
        '[sources]\nfiles = ["c.c"]\n[functions]\ninit = ["init"]\nstep = "step"\n'
        '[interface]\ninput = ["on"]\nstate = ["n", "off"]\n[ranges]\non = [0, 1]\n'
        '[[property]]\nid = "late"\ntext = "G(n < 6 -> F[0,2](off))"\n'
        '[[property]]\nid = "full"\ntext = "cover(n == 6 && off)"\n'
    )
    told = chaincover("generate", "c.toml", "-o", "out", "--no-native", cwd=tmp_path)
    assert "on the chain the consequent of late fails at steps 2..5" in " ".join(told.out.split())
    chain = json.loads((tmp_path / "out" / "chain.json").read_text())["chain"]
    assert [each["step"] for each in chain["failures"]] == [2, 3, 4, 5], "those that begin at 4 and 5 are met in time"
    assert "4 failures on the chain" in chaincover("verify", "c.toml", "out", cwd=tmp_path).out
    chain["failures"].pop()
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    (tmp_path / "out" / "chain.json").write_text(json.dumps({**document, "chain": chain}))
    assert "failures" in chaincover("verify", "c.toml", "out", cwd=tmp_path).out
