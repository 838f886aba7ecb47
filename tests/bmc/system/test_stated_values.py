"""The values that a constraint leaves an input, against all values tried one by one; what lives on them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from command_line import chaincover, write_files
from drawn_seeds import seeds
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, BVSLE, BVSLT, BVULE, BVULT, And, BVSExt, BVZExt, Equals, Not, Or

from bmc.explicit.batch import Batch
from bmc.formulas.evaluate import compile_formulas
from bmc.system.transition import InputVariable, TransitionSystem, ValueType, with_stated_values
from chaincover.project.load import load
from chaincover.project.project_file import read_project

KINDS = (ValueType("unsigned char", 8), ValueType("signed char", 8, signed=True))


def comparison(random: Random, symbol: FNode) -> FNode:
    extended = random.choice((symbol, BVZExt(symbol, 8), BVSExt(symbol, 8)))
    width = int(extended.bv_width())
    constant = BV(random.choice((0, 1, 127, 128, 255, random.randrange(1 << width))) % (1 << width), width)
    sides = (extended, constant) if random.random() < 0.5 else (constant, extended)
    atom = random.choice((BVULE, BVULT, BVSLE, BVSLT, Equals))(*sides)
    return Not(atom) if random.random() < 0.3 else atom


@seeds(60)
def test_values_are_those_that_the_parts_about_one_input_allow(seed: int) -> None:
    random = Random(seed)
    a, b = (InputVariable(name, random.choice(KINDS)) for name in ("values_a", "values_b"))
    alone = [random.choice((And, Or))([comparison(random, a.symbol) for _ in range(2)]) for _ in range(2)]
    both = Or(comparison(random, a.symbol), comparison(random, b.symbol))
    system = TransitionSystem("s", (), (a, b), input_constraint=And(*alone, both))
    found, other = with_stated_values(system).inputs
    whole = range(a.type.least, a.type.greatest + 1)
    holds = compile_formulas([And(alone)])
    allowed = {value for value in whole if holds({a.name: value % 256})[0]}
    stated = {value for low, high in found.values for value in range(low, high + 1)}
    assert (stated or {*whole}) == (allowed or {*whole})
    assert other.values == ()


FLAGS = """
typedef struct { unsigned char open, shut, lock, test; int by; } t_input;
typedef struct { unsigned char pos; unsigned int total; } t_state;
void init(t_state *s) { s->pos = 0; s->total = 0; }
void assumption(t_input *i, t_state *s) {
  __CPROVER_assume(i->open <= 1 && i->shut <= 1 && i->lock <= 1 && i->test <= 1 && i->by >= -3 && i->by <= 12);
}
void compute(t_input *i, t_state *s) {
  s->total = s->total * 5 + s->pos + i->by;
  if (i->open && !i->shut && s->pos < 20) s->pos++; else if (i->shut && !i->open && s->pos > 0) s->pos--;
}
void p_open(t_input *i, t_state *s) { __CPROVER_assume(s->pos == 2 && i->open && s->total != 7); compute(i, s); }
"""


@pytest.mark.slow
@pytest.mark.needs_compiler
def test_the_assumption_of_a_program_gives_its_inputs_values(tmp_path: Path) -> None:
    """Random steps that ignored it were all against it: nothing was compared, and no random run took a step."""
    write_files(tmp_path, {"flags.c": FLAGS})
    checked = chaincover("check", "flags.c", "--json", "--compare", "40", "--effort", "0.02", cwd=tmp_path)
    assert checked.code == 0
    values = {variable["name"]: variable["values"] for variable in checked.json["inputs"]}
    assert values["i->open"] == "0..1"
    assert values["i->by"] == "-3..12"
    assert checked.json["compared"]["steps"] == 40
    runs = Batch(load(read_project(str(tmp_path / "flags.c"))).system).draw({"s->pos": 0, "s->total": 0}, 16, 20)
    assert runs.valid.tolist() == [20] * 16
