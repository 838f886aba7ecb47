"""Random constraints over several steps, and a plain reference: all runs of the free system, looked at afterwards."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from explicit import State
from held_runs import Reached, Values
from pysmt.fnode import FNode
from pysmt.shortcuts import BV, And, Implies, Or
from random_systems import INPUT_TYPES, TYPES, RandomCase, _condition

from bmc.formulas.unroll import at, framed
from bmc.system.constraints import Constraint, Dwell, Rule
from properties.goal import Goal

Node = tuple[tuple[State, ...], tuple[Values, ...], int, frozenset[str]]


def random_rules(seed: int, case: RandomCase) -> tuple[Rule, ...]:
    """One to three rules, that do not forbid too much: each condition leaves some value of an input."""
    rng = random.Random(seed)
    names = [var.name for var in case.system.inputs]
    rules: list[Rule] = []
    for _ in range(rng.randint(1, 3)):
        kind = rng.choice(["dwell", "over steps", "over steps", "first"])
        if kind == "dwell":
            left = [name for name in names if all(getattr(rule, "name", "") != name for rule in rules)]
            rules += [Dwell(rng.choice(left), rng.randint(2, 4))] if left else []
            continue
        last = rng.randint(0, 1) if kind == "first" else rng.randint(1, 2)
        given = [framed(INPUT_TYPES[name].symbol(name), step) for step in range(last + 1) for name in names]
        read = [framed(kind.symbol(name), step) for step in range(last + 1) for name, kind in TYPES.items()]
        now = framed(INPUT_TYPES[names[0]].symbol(names[0]), last)
        chosen = now if now.get_type().is_bool_type() else now.Equals(BV(1, 1))
        body = _condition(rng, rng.choice([given, [*given, *read], [*given, *read]]), 2)
        rules.append(Constraint("drawn", rng.choice([Or, Implies, And, Or])(chosen, body), first=kind == "first"))
    return tuple(rules)


class ConstrainedRuns:
    """All runs of a free system that keep ``rules``, breadth first: of each the last steps and its goals."""

    def __init__(self, case: RandomCase, rules: Sequence[Rule]) -> None:
        self.explicit, self.goals, self.rules = Reached(case.system), case.goals, rules
        lengths = [rule.steps if isinstance(rule, Dwell) else rule.last + 1 for rule in rules]
        self.window = max([0, *(goal.length for goal in case.goals), *lengths])

    def least(self, final: FNode | None, names: Sequence[str]) -> int | None:
        """The least number of steps of a run over the goals ``names`` to ``final``; None if there is none at all."""
        init = self.explicit.init
        first: Node = ((init,), (), 0, self._covered((init,), ()))
        seen, layer, length = {first}, [first], 0
        while layer:
            for states, _, _, done in layer:
                if set(names) <= done and (final is None or self.explicit.holds(at(final, 0), states[-1:], [])):
                    return length
            following = dict.fromkeys(after for node in layer for after in self._steps(node) if after not in seen)
            seen.update(following)
            layer, length = list(following), length + 1
        return None

    def _steps(self, node: Node) -> Iterator[Node]:
        states, inputs, taken, done = node
        for values, after in self.explicit.following[states[-1]].items():
            given = (*inputs, values)
            if all(self._kept(rule, states, given, taken) for rule in self.rules):
                here, own = (*states, after)[-self.window - 1 :], given[max(0, len(given) - self.window) :]
                yield here, own, min(taken + 1, self.window + 1), done | self._covered(here, own)

    def _covered(self, states: tuple[State, ...], inputs: tuple[Values, ...]) -> frozenset[str]:
        return frozenset(goal.name for goal in self.goals if self._ends(goal, states, inputs))

    def _ends(self, goal: Goal, states: tuple[State, ...], inputs: tuple[Values, ...]) -> bool:
        first = len(inputs) - goal.length
        return first >= 0 and self.explicit.holds(goal.antecedent, states[first:], inputs[first:])

    def _kept(self, rule: Rule, states: tuple[State, ...], given: tuple[Values, ...], taken: int) -> bool:
        """Whether the last of the inputs ``given``, after ``taken`` steps, keeps ``rule``."""
        if isinstance(rule, Dwell):
            place = self.explicit.input_names.index(rule.name)
            column = [values[place] for values in given]
            if taken == 0 or column[-1] == column[-2]:
                return True
            return taken >= rule.steps and len({*column[-1 - rule.steps : -1]}) == 1
        if taken != rule.last if rule.first else taken < rule.last:
            return True
        first = len(given) - 1 - rule.last
        behind = len(given) - len(states)
        return self.explicit.holds(rule.formula, states[first - behind :], given[first:])
