"""Gates and clauses against direct evaluation: operators, rewriting, clauses with and without preprocessing."""

from __future__ import annotations

import random
from contextlib import nullcontext
from itertools import product

import pysmt.shortcuts as smt
import pytest
from gates import Blasted, gate_values
from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.solvers import Solver
from pysmt.fnode import FNode
from pysmt.typing import BOOL, BVType

from bmc.engines.sat_encoding.aig import CONSTANT, FALSE, INPUT, TRUE, Graph
from bmc.engines.sat_encoding.blast import spelled
from bmc.engines.sat_encoding.clauses import EQUIVALENT, IMPLIED, IMPLIES, ClauseTemplate
from bmc.engines.sat_encoding.step import width
from bmc.formulas.evaluate import compile_formulas

ARITHMETIC = ("Add", "Sub", "Mul", "UDiv", "URem", "SDiv", "SRem", "LShl", "LShr", "AShr")
TWO = (*ARITHMETIC, "And", "Or", "Xor", "ULT", "ULE", "SLT", "SLE", "Comp", "Concat")


def operators(a: FNode, b: FNode) -> list[FNode]:
    """Every operator on two words of one width, also with constants, and with operands that are partly constant."""
    bits, rng = width(a), random.Random(width(a))
    two = [getattr(smt, f"BV{name}") for name in TWO] + [smt.Equals]
    found = [operator(*pair) for operator in two for pair in ((a, b), (a, a), (smt.BVZExt(a, 2), smt.BVZExt(b, 2)))]
    found += [operator(a, smt.BV(value, bits)) for operator in two for value in range(1 << bits)]
    found += [operator(smt.BV(rng.randrange(1 << bits), bits), b) for operator in two]
    found += [smt.BVNeg(a), smt.BVNot(b), smt.BVSExt(a, 3), smt.BVRol(a, bits // 2), smt.BVRor(b, bits // 3)]
    found += [smt.BVExtract(a, bits // 2, bits - 1), smt.Ite(smt.BVULT(a, b), a, b)]
    flags = [smt.BVULT(a, b), smt.BVSLE(a, b), smt.Equals(a, b)]
    found += [smt.Implies(flags[0], flags[1]), smt.Iff(flags[1], flags[2]), smt.Not(flags[0]), smt.TRUE(), smt.FALSE()]
    return [*found, smt.And(flags), smt.Or(flags), smt.Ite(*flags)]


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_every_operator_is_right_for_all_operands(bits: int) -> None:
    a, b = smt.Symbol(f"ga_{bits}", BVType(bits)), smt.Symbol(f"gb_{bits}", BVType(bits))
    formulas = operators(a, b)
    rows = [{a.symbol_name(): x, b.symbol_name(): y} for x, y in product(range(1 << bits), repeat=2)]
    evaluate = compile_formulas(formulas)
    for row, found in zip(rows, Blasted(formulas).results(rows), strict=True):
        for formula, value, expected in zip(formulas, found, evaluate(row), strict=True):
            assert value == expected, (formula, row)


@given(st.integers(0, (1 << 64) - 1), st.integers(1, 64), st.lists(st.integers(0, (1 << 64) - 1), min_size=1))
@settings(max_examples=60, deadline=None)
def test_multiples_are_right_whatever_the_factor(factor: int, bits: int, values: list[int]) -> None:
    factor, word = factor % (1 << bits), smt.Symbol(f"gf_{bits}", BVType(bits))
    rows = [{word.symbol_name(): value % (1 << bits)} for value in values]
    found = Blasted([smt.BVMul(word, smt.BV(factor, bits))]).results(rows)
    assert found == [[row[word.symbol_name()] * factor % (1 << bits)] for row in rows]


@pytest.mark.parametrize(("number", "additions"), [(1, 0), (7, 1), (0xCCCCCD, 5), (0x99999A, 5), (0x1999999999999A, 7)])
def test_significands_of_decimal_fractions_take_few_additions(number: int, additions: int) -> None:
    """0.1 and 0.3 as ``float``, 0.1 as ``double``: their digits alone would take 12, 11 and 26."""
    assert spelled(number).additions == additions


@pytest.mark.slow
@given(st.integers(0, 1 << 30))
@settings(max_examples=8, deadline=None)
def test_operators_one_on_the_other_are_right(seed: int) -> None:
    rng = random.Random(seed)
    names = [f"gr_{n}" for n in range(3)]
    words = [smt.Symbol(name, BVType(5)) for name in names]
    for _ in range(12):
        made = rng.choice(operators(rng.choice(words), rng.choice(words)))
        if made.get_type() == BOOL:
            words.append(smt.Ite(made, rng.choice(words), rng.choice(words)))
        elif width(made) >= 5:
            words.append(
                smt.BVExtract(made, width(made) - 5, width(made) - 1)
                if rng.random() < 0.5
                else smt.BVExtract(made, 0, 4)
            )
    rows = [{name: rng.randrange(32) for name in names} for _ in range(20)]
    blasted = Blasted(words)
    assert blasted.results(rows) == [list(compile_formulas(words)(row)) for row in rows]


def test_divisions_of_wide_words_are_right() -> None:
    rng = random.Random(3)
    a, b = smt.Symbol("gw_a", BVType(32)), smt.Symbol("gw_b", BVType(32))
    low = smt.BVZExt(smt.BVExtract(b, 0, 6), 25)
    formulas = [make(a, y) for make in (smt.BVUDiv, smt.BVURem, smt.BVSDiv, smt.BVSRem, smt.BVMul) for y in (b, low)]
    formulas += [make(a, smt.BV(y, 32)) for make in (smt.BVUDiv, smt.BVURem, smt.BVMul) for y in (10, 255, 1 << 31)]
    numbers = [0, 1, 2**32 - 1, 2**31, *(rng.randrange(1 << rng.randint(1, 32)) for _ in range(30))]
    rows = [{"gw_a": rng.choice(numbers), "gw_b": rng.choice(numbers)} for _ in range(150)]
    assert Blasted(formulas).results(rows) == [list(compile_formulas(formulas)(row)) for row in rows]


@pytest.mark.slow
@pytest.mark.parametrize(("left", "right"), [*product([(2, True), (3, False), (5, True)], repeat=2)])
def test_repeated_signs_change_nothing(left: tuple[int, bool], right: tuple[int, bool]) -> None:
    """Of narrow words made wide, signed or not, only the lower bits are worked on."""

    def widened(name: str, bits: int, signed: bool) -> FNode:
        word = smt.Symbol(f"{name}_{bits}", BVType(bits))
        return smt.BVSExt(word, 5 - bits) if signed else smt.BVZExt(word, 5 - bits)

    a, b = widened("gs_a", *left), widened("gs_b", *right)
    formulas = [*operators(a, b), smt.BVMul(b, a), smt.BVMul(a, a)]
    evaluate = compile_formulas(formulas)
    sizes = range(1 << left[0]), range(1 << right[0])
    rows = [{f"gs_a_{left[0]}": x, f"gs_b_{right[0]}": y} for x, y in product(*sizes)]
    assert Blasted(formulas).results(rows) == [list(evaluate(row)) for row in rows]


def random_graph(rng: random.Random, inputs: int, gates: int) -> tuple[Graph, list[int], list[int]]:
    """A graph built at random, checked on the way, with its inputs and all literals."""
    graph = Graph()
    leaves = [graph.fresh() for _ in range(inputs)]
    rows = 1 << inputs
    mask = (1 << rows) - 1
    given = {leaf >> 1: sum((n >> place & 1) << n for n in range(rows)) for place, leaf in enumerate(leaves)}
    wanted = {FALSE: 0, TRUE: mask}
    for leaf in leaves:
        wanted.update({leaf: given[leaf >> 1], leaf ^ 1: given[leaf >> 1] ^ mask})
    for _ in range(gates):
        a, b, c = rng.choices(list(wanted), k=3)
        x, y, z = wanted[a], wanted[b], wanted[c]
        made, value = rng.choice(
            [
                (graph.conjunction(a, b), x & y),
                (graph.disjunction(a, b), x | y),
                (graph.exclusive(a, b), x ^ y),
                (graph.choice(a, b, c), (x & y) | (~x & z) & mask),
                (graph.majority(a, b, c), (x & y) | (x & z) | (y & z)),
            ]
        )
        assert wanted.setdefault(made, value) == value
        wanted.setdefault(made ^ 1, value ^ mask)
    values = gate_values(graph, given)
    assert all((values[literal >> 1] ^ -(literal & 1)) & mask == value for literal, value in wanted.items())
    return graph, leaves, list(wanted)


@given(st.integers(0, 1 << 30))
@settings(max_examples=30, deadline=None)
def test_rewriting_keeps_every_function(seed: int) -> None:
    random_graph(random.Random(seed), 4, 60)


def test_exclusive_or_and_choice_are_recognised() -> None:
    g = Graph()
    a, b, c = g.fresh(), g.fresh(), g.fresh()
    assert g.conjunction(g.disjunction(a, b), g.disjunction(a ^ 1, b ^ 1)) == g.exclusive(a, b)
    assert g.disjunction(g.conjunction(c, a), g.conjunction(c ^ 1, b)) == g.choice(c, a, b)
    assert g.conjunction(g.disjunction(a, b), g.disjunction(a, b ^ 1)) == a


@pytest.mark.parametrize("preprocess", [False, True])
@given(seed=st.integers(0, 1 << 30))
@settings(max_examples=30, deadline=None)
def test_clauses_say_what_the_gates_compute(preprocess: bool, seed: int) -> None:
    """Two layers that share gates, one-sided and two-sided roots, placed twice under other names."""
    rng = random.Random(seed)
    graph, leaves, literals = random_graph(rng, 4, 40)
    roots = rng.sample([literal for literal in literals if literal > TRUE], 5)
    layers: list[dict[int, int]] = [{}, {}]
    for root in roots:
        layers[rng.random() < 0.5][root] = rng.choice([IMPLIES, IMPLIED, EQUIVALENT])
    template = ClauseTemplate(graph, [leaf >> 1 for leaf in leaves], layers, nullcontext if preprocess else None)
    top = 1
    with Solver(name="glucose4", bootstrap_with=[[1]]) as solver:
        places = []
        for _ in range(2):
            names = [rng.choice([1, -1]) * (top + place) for place in range(1, len(leaves) + 1)]
            top += len(leaves)
            numbers = template.numbers(1, names)
            for block in template.blocks:
                numbers[block.owned.start : block.owned.stop] = range(top + 1, top + 1 + len(block.owned))
                top += len(block.owned)
                solver.append_formula(block.placed(numbers))
            places.append((names, numbers))
        for values in product((0, 1), repeat=len(leaves)):
            known = gate_values(graph, {leaf >> 1: value for leaf, value in zip(leaves, values, strict=True)})
            for names, numbers in places:
                inputs = [name if value else -name for name, value in zip(names, values, strict=True)]
                for layer in layers:
                    for root, what in layer.items():
                        local = template.local(root)
                        name = int(numbers[local]) if local > 0 else -int(numbers[-local])
                        holds = bool(known[root >> 1] & 1 ^ root & 1)
                        right, wrong = (name, -name) if holds else (-name, name)
                        assert solver.solve([*inputs, right])
                        if what & (IMPLIED if holds else IMPLIES):
                            assert not solver.solve([*inputs, wrong])


@pytest.mark.parametrize("preprocess", [False, True])
@given(seed=st.integers(0, 1 << 30))
@settings(max_examples=20, deadline=None)
def test_clauses_with_asserted_roots_have_the_solutions_in_which_these_hold(preprocess: bool, seed: int) -> None:
    rng = random.Random(seed)
    graph, leaves, literals = random_graph(rng, 4, 40)
    roots = rng.sample([literal for literal in literals if graph.kinds[literal >> 1] not in (CONSTANT, INPUT)], 4)
    layers: list[dict[int, int]] = [{}, {}]
    for root in roots:
        layers[rng.random() < 0.5][root] = EQUIVALENT
    asserted, told = roots[:2], roots[2:]
    aside = nullcontext if preprocess else None
    template = ClauseTemplate(graph, [leaf >> 1 for leaf in leaves], layers, aside, asserted)
    names = list(range(2, 2 + len(leaves)))
    numbers = template.numbers(1, names)
    with Solver(name="glucose4", bootstrap_with=[[1]]) as solver:
        for block in template.blocks:
            numbers[block.owned.start : block.owned.stop] = block.owned
            solver.append_formula(block.placed(numbers))
        for values in product((0, 1), repeat=len(leaves)):
            known = gate_values(graph, {leaf >> 1: value for leaf, value in zip(leaves, values, strict=True)})
            held = [known[root >> 1] & 1 ^ root & 1 for root in asserted]
            inputs = [name if value else -name for name, value in zip(names, values, strict=True)]
            assert solver.solve(inputs) == all(held)
            for root in told if all(held) else ():
                local = template.local(root)
                name = int(numbers[local]) if local > 0 else -int(numbers[-local])
                assert solver.solve([*inputs, name]) == bool(known[root >> 1] & 1 ^ root & 1)


@pytest.mark.slow
def test_long_chains_of_operators_need_no_recursion() -> None:
    flag, word = smt.Symbol("gl_f", BOOL), smt.Symbol("gl_w", BVType(2))
    term = word
    for _ in range(1200):
        term = smt.Ite(flag, smt.BVAdd(term, smt.BV(1, 2)), term)
    blasted = Blasted([term])
    assert blasted.results([{"gl_f": 1, "gl_w": 3}, {"gl_f": 0, "gl_w": 2}]) == [[3], [2]]


def test_other_operators_are_refused() -> None:
    x = smt.Symbol("gi_x", smt.INT)
    with pytest.raises(ValueError, match="not Boolean nor bit-vector"):
        Blasted([smt.Equals(smt.Plus(x, x), smt.Int(1))])
