"""Fewer start values: of those that nothing can tell apart, one stands for all.

A program that writes to the outputs of its caller leaves their start values open. Where a goal asks in which way the
motor turns, three or four of the 256 values of a byte differ; what is more, the states after the first step are mostly
the same. So the start states are few, and a search may begin in each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import partial

from pysmt.fnode import FNode

from bmc.formulas.terms import choose
from bmc.formulas.unroll import plain, unframed, with_terms
from bmc.system.transition import InputVariable, StateVariable
from chaincover.problem import Problem
from chaincover.reductions.reduction import Reduction
from chaincover.result import ChainResult

_WORDS = re.compile(r"[^\s()]+")
"""What stands in a formula: names, numbers and operators."""


def few_starts(problem: Problem) -> Reduction:
    """The reduction to one start value of each class of integers: what a step, a goal or the end reads of a variable
    that init leaves open has one value in all states of a class, also as long as steps keep the variable. One that is
    left is the start value.

    The runs of the reduced problem are runs of the whole one. What is found to hold in all of its states need not hold
    in a state in which other ones begin: such facts about the variables are left out.
    """
    system = problem.system
    opened = {var.symbol: var for var in system.state if var.init is None and var.type.bits and not var.type.floating}
    if not opened:
        return Reduction(problem, lambda result: result)
    from bmc.evaluation.vectors import walk  # arrays, which few programs need here
    from bmc.explicit.input_classes import largest_terms

    formulas = [*_read_by_steps(problem), *_read_by_goals(problem, opened)]
    own = largest_terms(walk(formulas), {*formulas}, {symbol: symbol for symbol in opened})
    state = tuple(_beginning(var, own) if opened.get(var.symbol) is var else var for var in system.state)
    narrowed = {var.name for var, before in zip(state, system.state, strict=True) if var is not before}
    return Reduction(replace(problem, system=replace(system, state=state)), partial(_without_facts, narrowed))


def _without_facts(names: Set[str], result: ChainResult) -> ChainResult:
    """``result`` without the invariants that read one of the variables of these ``names``."""
    proof = result.certificate
    if proof is None or not names:
        return result
    left_out = {name for name, text in proof.formulas.items() if names & {*_WORDS.findall(text.replace("|", " "))}}
    kept = {name: text for name, text in proof.formulas.items() if name not in left_out}
    invariants, told = (
        tuple(name for name in of if name not in left_out) for of in (proof.invariants, result.invariants)
    )
    return replace(result, certificate=replace(proof, invariants=invariants, formulas=kept), invariants=told)


def _beginning(var: StateVariable, own: Mapping[FNode, FNode]) -> StateVariable:
    """``var`` with one start value of each class; ``own`` has the terms over one variable, with its symbol."""
    from bmc.explicit.input_classes import TooManyValues, class_values

    terms = {term: read for term, read in own.items() if read is var.symbol}
    try:
        raw = class_values(InputVariable(var.name, var.type, var.starts), terms) if terms else [var.plainest_start]
    except TooManyValues:
        return var
    if len(raw) == 1:
        return replace(var, init=var.type.constant(var.type.value(raw[0])), starts=())
    return replace(var, starts=tuple((value, value) for value in sorted(map(var.type.value, raw))))


def _read_by_steps(problem: Problem) -> Iterator[FNode]:
    """What steps and the end read, over plain symbols; a variable may be kept without being read."""
    system = problem.system
    yield from (system.input_constraint, system.defined)
    yield from (_without_kept(var) for var in system.state)
    if problem.final is not None:
        yield problem.final


def _without_kept(var: StateVariable) -> FNode:
    """The next value of ``var``, with its plainest value where it is kept as it is."""
    if var.init is not None:
        return var.next
    return _kept_replaced(var.next, var.symbol, var.type.constant(var.type.value(var.plainest_start)))


def _kept_replaced(term: FNode, symbol: FNode, by: FNode) -> FNode:
    """``term``, a choice between terms, with ``by`` where it is ``symbol``."""
    made: dict[FNode, FNode] = {symbol: by}
    todo = [term]
    while todo:
        node = todo[-1]
        below = [each for each in node.args()[1:] if each not in made] if node.is_ite() and node not in made else []
        todo += below
        if not below:
            todo.pop()
            if node not in made:
                made[node] = choose(node.arg(0), *(made[each] for each in node.args()[1:])) if node.is_ite() else node
    return made[term]


def _read_by_goals(problem: Problem, opened: dict[FNode, StateVariable]) -> Iterator[FNode]:
    """The terms over one open variable at one step that goals read, over plain symbols."""
    from bmc.evaluation.vectors import walk
    from bmc.explicit.input_classes import largest_terms

    goals: Sequence[FNode] = [goal.antecedent for goal in problem.goals]
    order = walk(goals)
    names = {var.name for var in opened.values()}
    framed = {node: node for node in order if node.is_symbol() and unframed(node)[0] in names}
    for term, symbol in largest_terms(order, {*goals}, framed).items():
        yield with_terms([term], {symbol: plain(symbol)})[0]
