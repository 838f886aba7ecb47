"""Goals that a chain is not made for: which, why, and when that leaves too few goals to search for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from chaincover.weights import ReachGraph

Reasons = Mapping[str, tuple[str, str]]
"""For goals that no chain covers the verdict, and how it is proved."""


class StandInsLost(Exception):
    """No chain covers goals that stand for others, which they imply: these are to be searched for.

    ``names`` are those goals, ``proved`` the reasons known for all goals that no chain covers.
    """

    def __init__(self, names: Collection[str], proved: Reasons) -> None:
        super().__init__(", ".join(sorted(names)))
        self.names, self.proved = frozenset(names), dict(proved)


class SetAside:
    """``names`` of the goals set aside, because no chain was found for any of them alone; ``proved`` has the reasons
    where it is proved that there is none."""

    def __init__(self, proved: Reasons, stand_ins: Collection[str]) -> None:
        """``proved``: known from before. ``stand_ins`` are goals without which others would be searched for."""
        self.names = tuple(proved)
        self.proved = dict(proved)
        self._stand_ins = stand_ins

    def settle(self, proved: Reasons, given_up: Iterable[str]) -> None:
        """Set aside the goals ``proved``, and those ``given_up``, unless they come up again."""
        self.proved.update(proved)
        self.names = tuple(dict.fromkeys([*self.proved, *given_up]))

    def leave_out(self, names: Iterable[str]) -> None:
        """Set aside ``names`` too: they may fit into another chain."""
        self.names = (*self.names, *names)

    def without(self, graph: ReachGraph) -> ReachGraph:
        """``graph`` of the goals that a chain is made for."""
        possible = graph.possible
        return possible.restricted([goal for goal in possible.goals if goal not in self.names])

    def check_stand_ins(self) -> None:
        """StandInsLost if one of these is set aside."""
        if lost := frozenset(self.names).intersection(self._stand_ins):
            raise StandInsLost(lost, self.proved)
