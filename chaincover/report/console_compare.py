"""What ``compare`` found of several orderings, for the terminal: the table, its notes, and which ordering to use."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from bmc.errors import NAMED, counted, listed
from bmc.records import dataclass
from chaincover.chain import UNDECIDED
from chaincover.comparison import Along, Comparison, Final, OtherOrders, Row
from chaincover.orderings.protocol import Path
from chaincover.report.console import Console, ended_by, held_runs, proof_told, say
from chaincover.subject import Subject

NUMBERS = ("cost", "order", "orders", "refined", "constrained", "steps", "bound", "total")
"""The columns that are set to the right."""

DETAILS = ("proved", "order", "orders", "refined", "constrained")
"""The columns that are shown where everything is to be told."""


def show(out: Console, subject: Subject, found: Comparison) -> None:
    """What users get with each ordering, and which one to use; where everything is to be told, all else with notes."""
    graph, name = found.graph, subject.system.name
    depth = f"K = {graph.depth}, graph in {graph.seconds:.2f} s" if graph.depth >= 0 else "no graph yet"
    head = f"{name}: {counted(len(graph.goals), 'goal')}, {depth}"
    held = held_runs(subject.hold)
    proved = "" if found.several else f"; no chain is shorter than {found.bounds.lower}{held} ({found.bounds.basis})"
    say(out, head + proved, "bold")
    if found.goals_left_out:
        say(out, f"not ordered: {counted(len(found.goals_left_out), 'goal')} proved to be in no chain")
    if found.path_unknown:
        why = "the graph was not finished, and what is known of it has no order of all goals"
        say(out, f"whether there is a covering path is not known: {why}; what users get is generate --several")
    elif not found.path:
        say(out, "no covering path: there is no order of all goals; what users get is generate --several")
    if found.rows:
        out.table(*_table(found, out.everything), right=NUMBERS)
    if out.everything:
        _show_notes(out, found)
    say(out, advice(found.rows, found.several), "bold")
    if found.stopped_by:
        say(out, f"{ended_by(found.stopped_by)}; what is told is valid but not complete.")


def _show_notes(out: Console, found: Comparison) -> None:
    """What the columns of the table mean, and the notes of its rows."""
    notes = out.part()
    if any(row.trials for row in found.rows):
        told = f"each ordering was told the goals in {counted(found.asked.seeds, 'order')}"
        say(notes, f"{told}; order, chain: median [quartiles]; chain: repaired, not shortened")
    finals = [row.final for row in found.rows if row.final is not None]
    if finals:
        several = "--several " if found.several else ""
        same = "" if any(final.ordered for final in finals) else "; it asked no ordering: one run for all rows"
        say(notes, f"steps, bound (minimal where equal), total: generate {several}--ordering NAME{same}")
    for texts, names in _grouped({row.ordering: tuple(notes_of(row)) for row in found.rows}):
        say(notes, f"{', '.join(names)}: {'; '.join(texts)}")
    out.show(notes)


def _grouped(notes: dict[str, tuple[str, ...]]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The notes that there are, each with the names of the rows that have them."""
    for texts in dict.fromkeys(notes.values()):
        if texts:
            yield texts, [name for name, own in notes.items() if own == texts]


def _table(found: Comparison, everything: bool) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Titles and rows."""
    titles, rows = _all_columns(found)
    kept = [at for at, title in enumerate(titles) if everything or title not in DETAILS]
    return [titles[at] for at in kept], [[row[at] for at in kept] for row in rows]


def _all_columns(found: Comparison) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Titles and rows of all columns."""
    titles = ["ordering", "cost", "proved", "order", "orders", "chain", "refined", "constrained"]
    if not found.path:
        titles = titles[:1]
    rows = []
    for row in found.rows:
        order, seconds = row.first, spread([trial.found.seconds for trial in row.trials])
        cells = [
            row.ordering,
            str(order.cost) if order and order.path else "-",
            _yes(all(trial.found.proved for trial in row.trials)) if order else "-",
            f"{seconds.median:.3f} s" if seconds else "-",
            str(row.orders) if order else "-",
            _chain(row),
            *(_searched(search) for search in (row.refined, row.constrained)),
        ]
        rows.append([*cells[: len(titles)], *_final_cells(row.final, found.several)])
    return [*titles, *(["chains"] if found.several else []), "steps", "bound", "covered", "total"], rows


def _final_cells(final: Final | None, several: bool) -> list[str]:
    if final is None or not final.verdicts:
        return ["-"] * (5 if several else 4)
    length, lower = final.bounds.length if final.chains else None, final.bounds.lower
    open_still = any(verdict.status == UNDECIDED for verdict in final.verdicts)
    count = [f"{final.chains}{'' if final.fewest else ' so far' if open_still else ' or fewer'}"] if several else []
    steps = ["-" if length is None else str(length), str(lower)]
    return [*count, *steps, f"{final.covered} of {len(final.verdicts)}", f"{final.seconds:.1f} s"]


def _chain(row: Row) -> str:
    """Median and quartiles of the chains' lengths, and how many orders have none."""
    found, missing = spread(row.lengths), len(row.trials) - len(row.lengths)
    if found is None:
        return "none" if row.trials else "-"
    text = _short(found.median)
    if found.first < found.third:
        text += f" [{_short(found.first)}, {_short(found.third)}]"
    return text + (f", {missing} none" if missing else "")


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _searched(search: OtherOrders | None) -> str:
    if search is None:
        return "-"
    return "none" if search.length is None else str(search.length)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def advice(rows: Sequence[Row], several: bool) -> str:
    """Which ordering to use for this graph, and why: that of the best answer, where one is better than another."""
    answers = {row.ordering: row.final for row in rows if row.final is not None and row.final.chains}
    if not answers:
        return "which ordering to use is open: none led to a chain; generate without --ordering takes one by itself"
    ranks = {name: _rank(final) for name, final in answers.items()}
    best = [name for name in answers if ranks[name] == min(ranks.values())]
    told, missing = _told(answers[best[0]], several), len(rows) - len(answers)
    if len(best) == len(rows):
        asked = any(final.ordered for final in answers.values())
        whose = {1: f"{best[0]}, the only one here,", 2: "both"}.get(len(rows), f"all {len(rows)}")
        none_asked = "" if asked else ", and no ordering was asked for it"
        return f"use the default, without --ordering: {whose} gave {told}{none_asked}"
    rest = {name: ranks[name] for name in answers if name not in best}
    return f"use --ordering {best[0]}: it gave {told}{_others(best[1:], rest, answers, several)}" + (
        f"; {counted(missing, 'ordering')} gave no chain" if missing else ""
    )


def _others(
    alike: Sequence[str], rest: Mapping[str, tuple[int, ...]], answers: Mapping[str, Final], several: bool
) -> str:
    """Which orderings gave the same, and what the best of the ``rest`` gave, which have ranks."""
    also = f", and so did {listed(alike)}" if alike else ""
    second = min(rest, key=lambda name: rest[name], default="")
    return also + (f"; {second} gave {_told(answers[second], several)}" if second else "")


def _rank(final: Final) -> tuple[int, ...]:
    """The better an answer is the less this is: most goals covered, fewest chains and steps, the highest bound."""
    return (-final.covered, final.chains, final.bounds.length or 0, -final.bounds.lower)


def _told(final: Final, several: bool) -> str:
    """What users get, in words."""
    chains = f"{counted(final.chains, 'chain')} of " if several else ""
    proof = proof_told(final.bounds)
    goals = f"{final.covered} of {len(final.verdicts)} goals"
    return f"{chains}{counted(final.bounds.length or 0, 'step')} ({proof}) for {goals}"


@dataclass(frozen=True, slots=True)
class Spread:
    """Least and greatest of several values, and their quartiles, interpolated between the values next to them."""

    least: float
    first: float
    median: float
    third: float
    greatest: float


def spread(values: Sequence[float]) -> Spread | None:
    """The spread of ``values``; None where there are none."""
    if not values:
        return None
    at_least_two = values if len(values) > 1 else [*values, *values]
    first, median, third = statistics.quantiles(at_least_two, n=4, method="inclusive")
    return Spread(min(values), first, median, third, max(values))


def notes_of(row: Row) -> Iterator[str]:
    """What the numbers of a row do not tell, above all what its paths cannot do."""
    if row.note:
        yield row.note
    if row.first is not None and row.first.by != row.ordering:
        yield f"answered by {row.first.by}"
    yield from _chain_notes([trial.chain for trial in row.trials])
    for name, search in (("refinement", row.refined), ("path constraints", row.constrained)):
        if search is not None and search.note:
            yield f"{name}: {search.note}"
        elif search is not None and search.infeasible:
            yield f"{name}: {counted(search.tried, 'order')} tried, ruled out: {_often(search.infeasible)}"
    if row.final is not None:
        yield from _final_notes(row.final)


def _chain_notes(chains: Sequence[Along]) -> Iterator[str]:
    """How many of the chains along the orders of a row could not be found, or not at the cost of the order, and why."""
    runs = len(chains)
    dear = [chain.infeasible for chain in chains if chain.infeasible]
    if dear:
        yield f"{_of_orders(len(dear), runs)} infeasible at {_their(len(dear))} cost: {_often(dear)}"
    failed = [chain.failed for chain in chains if chain.failed]
    if failed:
        note = next(chain.note for chain in chains if chain.failed)
        yield f"{_of_orders(len(failed), runs)} without a chain: {note} joins {_often(failed)}"
    for note, count in Counter(chain.note for chain in chains if chain.note and not chain.failed).items():
        yield f"{_of_orders(count, runs)} without a chain: {note}"


def _final_notes(final: Final) -> Iterator[str]:
    """What users must know of the final run."""
    if final.note:
        yield f"generate: {final.note}"
    if final.stopped_by:
        yield f"generate: stopped by {final.stopped_by}"
    elif final.used_up:
        yield "generate: the effort was used up"


def _of_orders(count: int, runs: int) -> str:
    return f"{count} of {counted(runs, 'order')}"


def _their(count: int) -> str:
    return "its" if count == 1 else "their"


def _often(paths: Sequence[Path]) -> str:
    """The sub-path that is told of several: the most frequent one, its last nodes."""
    path, count = Counter(paths).most_common(1)[0]
    nodes = [*(["..."] if len(path) > NAMED else []), *path[-NAMED:]]
    others = len(paths) - count
    return " -> ".join(nodes) + (f" and {counted(others, 'other')}" if others else "")
