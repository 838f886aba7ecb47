"""What a system remembers of earlier steps, against a look into the run itself."""

from __future__ import annotations

import random
from itertools import product

import pytest
from command_line import fresh_names
from pysmt.shortcuts import BV, BVULT, And, Equals, Iff, Not, Or

from bmc.errors import CheckDisagreed
from bmc.formulas.evaluate import compile_formulas
from bmc.formulas.unroll import at, framed
from bmc.system.memory import Memory, called, fixed_memory, recalled, remembered, with_memory
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType, symbols_of

BYTE = ValueType("byte", 8)


def counter() -> TransitionSystem:
    """``n`` adds up the input ``a``."""
    n, a = BYTE.symbol("n"), BYTE.symbol("a")
    return TransitionSystem("counter", (StateVariable("n", BYTE, BV(0, 8), n + a),), (InputVariable("a", BYTE),))


@pytest.mark.parametrize("steps", [1, 2, 4, 5, 11])
def test_values_of_earlier_steps(steps: int) -> None:
    with fresh_names():
        system, source = counter(), random.Random(steps)
        n, a = BYTE.symbol("n"), BYTE.symbol("a")
        memory = Memory("m")
        value, truth = memory.before(n, min(steps, 5)), memory.before(BVULT(a, n), steps)
        again = memory.before(BVULT(a, n), steps)
        known = memory.after(steps)
        larger = with_memory(system, memory.variables)
        simulator = Simulator(larger)
        inputs = [{"a": source.randrange(40)} for _ in range(30)]
        run = simulator.run(simulator.initial(), inputs)
        seen = [compile_formulas([value, truth, known])(state) for state in run.states]
        plain = Simulator(system).run(Simulator(system).initial(), inputs)

    assert again is truth
    for k, (number, holds, old) in enumerate(seen):
        before, far = k - min(steps, 5), k - steps
        assert number == (plain.states[before]["n"] if before >= 0 else 0)
        assert bool(holds) == (far >= 0 and inputs[far]["a"] < plain.states[far]["n"])
        assert bool(old) == (far >= 0)
    assert remembered(plain, memory.variables) == run


def test_only_counters_have_bounds_and_names_are_numbered() -> None:
    with fresh_names():
        memory = Memory("m")
        memory.before(BYTE.symbol("n"), 2)
        memory.after(5)
        told = [(var.name, var.low, var.high) for var in memory.variables]
    assert told == [("m#1:8", None, None), ("m#2:8", None, None), ("m#3:3", 0, 5)]


def test_a_formula_over_steps_reads_when_the_last_is_at_hand() -> None:
    with fresh_names():
        system = counter()
        n, a = BYTE.symbol("n"), BYTE.symbol("a")
        grown = And(
            Equals(framed(n, 2), framed(n, 0) + framed(a, 0) + framed(a, 1)),
            at(BVULT(a, BV(9, 8)), 2),
        )
        memory = Memory("m")
        now = memory.now(grown, 2)
        simulator = Simulator(with_memory(system, memory.variables))
        inputs = [{"a": value} for value in (3, 250, 9, 8, 200, 1)]
        run = simulator.run(simulator.initial(), inputs)
        holds = compile_formulas([now])
        seen = [bool(holds({**state, **values})[0]) for state, values in zip(run.states, inputs, strict=False)]

    assert seen == [k >= 2 and inputs[k]["a"] < 9 for k in range(len(inputs))]


def test_a_formula_about_memory_says_the_same_of_the_steps_themselves() -> None:
    """In all runs; what goes back to the first step stays, and what is remembered of steps before it."""
    with fresh_names():
        source = random.Random(1)
        n, a = BYTE.symbol("n"), BYTE.symbol("a")
        memory = Memory("m")
        third, word, once = memory.before(BVULT(a, n), 3), memory.before(n, 1), memory.fresh()
        memory.keep(once, Or(once, BVULT(a, n)))
        late = memory.before(And(once, BVULT(n, a)), 1)
        system = with_memory(counter(), memory.variables)
        told = [And(at(third, 2), at(Equals(word, n), 1)), at(Not(third), 5), at(Iff(third, late), 4), at(once, 3)]
        plainly = recalled(told, fixed_memory(system))
        holds, simulator = compile_formulas([*told, *plainly]), Simulator(system)
        answers = set()
        for _ in range(40):
            run = simulator.run(simulator.initial(), [{"a": source.choice((0, 0, 3, 200))} for _ in range(5)])
            rows = (*enumerate(run.states), *enumerate(run.inputs))
            found = holds({f"{name}@{step}": value for step, row in rows for name, value in row.items()})
            assert found[:4] == found[4:]
            answers |= set(enumerate(found[:4]))
        read = [{symbol.symbol_name() for symbol in symbols_of(formula)} for formula in plainly]

    assert answers == {(0, False), *product((1, 2, 3), (False, True))}
    assert read == [{"m#1@0", "m#4:8@1", "n@1"}, {"n@2", "a@2"}, {"n@1", "a@1", "m#6@4"}, {"m#5@3"}]


def test_what_is_remembered_is_called_by_its_owner() -> None:
    with fresh_names():
        names = [Memory(owner).fresh(kind).symbol_name() for owner, kind in (("late", BYTE), ("constraint:", BYTE))]
    told = ["what 'late' remembers of earlier steps", "what a constraint remembers of earlier steps"]
    assert [*map(called, [*names, "s->n"])] == [*told, "'s->n'"]


def test_two_memories_of_one_name_are_never_taken_for_one() -> None:
    with fresh_names():
        n = BYTE.symbol("n")
        one, same, other = Memory("m"), Memory("m"), Memory("m")
        for memory, value in ((one, n), (same, n), (other, n + BV(1, 8))):
            memory.before(value, 1)
        assert len(with_memory(counter(), [*one.variables, *same.variables]).state) == 2
        with pytest.raises(CheckDisagreed, match="two memories of goals are called 'm#1:8'"):
            with_memory(counter(), [*one.variables, *other.variables])
