"""What ``check`` tells about the goals, as plain data; what Lemma 3 and Theorem 2 of the paper need of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bmc.engines.dead_ends import DeadEnd
from chaincover.verdicts import listed
from chaincover.weights import Edge

NONE, SINGLE, SEVERAL, UNKNOWN = "none", "single", "several", "unknown"
APART, MEETS, INSIDE, EQUAL = "apart", "meets", "inside", "equal"
YES, NO = "yes", "no"


@dataclass(frozen=True, slots=True)
class Trigger:
    """The reachable states in which a goal can start.

    ``kind``: ``none``, ``single`` (at most one), ``several`` or ``unknown``; ``states`` is their number where known.
    ``connected``: whether each can be reached from each other; None: not decided. ``init`` and ``final`` tell how they
    lie to the start states and to the states of the final condition: ``apart``, ``meets`` (some are common),
    ``inside`` (all lie in it), ``equal`` or ``unknown``; ``final`` is '' without a final condition.
    """

    goal: str
    kind: str
    states: int | None
    connected: bool | None
    init: str
    final: str


@dataclass(frozen=True, slots=True)
class Sharing:
    """``second`` can start ``distance`` steps after ``first``, before that is over; least ``distance`` found."""

    first: str
    second: str
    distance: int


@dataclass(frozen=True, slots=True)
class Claim:
    """``applies``: ``yes``, ``no`` or ``unknown``; ``because`` says why where it is not ``yes``."""

    applies: str
    because: tuple[str, ...] = ()


@dataclass(frozen=True)
class GoalFacts:
    """``reachable`` is the number of reachable states, None where they are not enumerated.

    ``not_enumerated`` says why not, and what would change that, or is ''. ``normal_form`` names variables whose values
    are not all told apart: states count as one where nothing can tell which of these they hold.
    ``exact``: each pair in ``sharing`` shares a step in a reachable state; otherwise in one that the proved
    invariants allow. ``implied`` holds (a, b) where every run that covers a covers b within the steps of a, its
    last state included. ``dead_end`` says why no run goes on after some number of steps, where that is so. Pairs in
    ``sharing_undecided`` and ``implied_undecided`` were not answered in time.
    """

    triggers: tuple[Trigger, ...]
    sharing: tuple[Sharing, ...]
    exact: bool
    sharing_undecided: tuple[Edge, ...]
    implied: tuple[Edge, ...]
    implied_undecided: tuple[Edge, ...]
    reachable: int | None
    lemma_3: Claim
    theorem_2: Claim
    not_enumerated: str = ""
    normal_form: tuple[str, ...] = ()
    dead_end: DeadEnd | None = None

    def as_data(self) -> dict[str, Any]:
        """The facts as plain data."""
        return {
            "reachable_states": self.reachable,
            "states_not_enumerated": self.not_enumerated or None,
            "states_in_normal_form": list(self.normal_form),
            "triggers": [
                {
                    "goal": t.goal,
                    "kind": t.kind,
                    "states": t.states,
                    "strongly_connected": t.connected,
                    "init": t.init,
                    "final": t.final or None,
                }
                for t in self.triggers
            ],
            "sharing": [{"first": s.first, "second": s.second, "distance": s.distance} for s in self.sharing],
            "sharing_is_exact": self.exact,
            "sharing_undecided": [list(pair) for pair in self.sharing_undecided],
            "implied": [{"goal": a, "covers": b} for a, b in self.implied],
            "implied_undecided": [list(pair) for pair in self.implied_undecided],
            "lemma_3": {"applies": self.lemma_3.applies, "because": list(self.lemma_3.because)},
            "theorem_2": {"applies": self.theorem_2.applies, "because": list(self.theorem_2.because)},
        }


def lemma_3(triggers: Sequence[Trigger], shared: Sequence[Edge], perhaps_shared: Sequence[Edge]) -> Claim:
    """Whether a chain along the shortest order is minimal, if it meets no goal twice: each goal starts in one state.

    That joins the shortest ways between goals to one run only if no goal starts before another is over: ``shared``
    holds the pairs that can share steps, ``perhaps_shared`` those of which that is not known. Goals that no run covers
    are left out.
    """
    several = [t.goal for t in triggers if t.kind == SEVERAL]
    unknown = [t.goal for t in triggers if t.kind == UNKNOWN]
    no = [f"{listed(several)} can start in several states"] if several else []
    return _claim(
        no,
        [f"whether {listed(unknown)} can start in several states"] if unknown else [],
        shared,
        perhaps_shared,
    )


def theorem_2(triggers: Sequence[Trigger], shared: Sequence[Edge], perhaps_shared: Sequence[Edge]) -> Claim:
    """Whether chain repair (Algorithm 4) finds a chain if there is one and K is large enough.

    The states in which a goal can start must all reach each other. The rest is as in ``lemma_3``.
    """
    apart = [t.goal for t in triggers if t.connected is False]
    unknown = [t.goal for t in triggers if t.connected is None]
    no = [f"not all states in which {listed(apart)} can start reach each other"] if apart else []
    yet = [f"whether the states in which {listed(unknown)} can start reach each other"] if unknown else []
    return _claim(no, yet, shared, perhaps_shared)


def _claim(no: list[str], unknown: list[str], shared: Sequence[Edge], perhaps_shared: Sequence[Edge]) -> Claim:
    """The claim with these objections and open questions, and those of goals that share steps."""
    if shared:
        no = [
            *no,
            f'{listed([f"{a} and {b}" for a, b in shared])} can share steps (not with overlap = "forbid")',
        ]
    if perhaps_shared:
        pairs = listed([f"{a} and {b}" for a, b in perhaps_shared])
        unknown = [*unknown, f'whether {pairs} can share steps (not with overlap = "forbid")']
    if no:
        return Claim(NO, tuple(no))
    return Claim(UNKNOWN, tuple(unknown)) if unknown else Claim(YES)
