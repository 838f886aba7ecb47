"""The functions of the public face that join rooms together (docs/reference/api.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from bmc.engines import choose as choose_engine
from bmc.errors import UsageError
from bmc.records import dataclass
from bmc.system.transition import Valuation
from chaincover.chain import Chain
from chaincover.check.analysis import prepare
from chaincover.formats.chain_file import Stimulus, csv_lines, read_stimulus, start_record, stimulus_of
from chaincover.formats.document import CHAINS_FILE, chain_place, read_document
from chaincover.formats.output import json_parts, prepare_folder, write_texts
from chaincover.formats.recorded_subject import load_for
from chaincover.formats.rows import ChainRows, reported
from chaincover.formats.writer import chain_document, chains_document, hits_data
from chaincover.options import Options
from chaincover.partition import maximum_coverage, several
from chaincover.partition.best import Listener as ListenerOfSeveral
from chaincover.problem import Problem
from chaincover.project.load import Request, load_request
from chaincover.project.values import show_ranges
from chaincover.report.console_generate import part_of
from chaincover.report.html.table import chosen_variables
from chaincover.report.html.trace import chain_trace, variables
from chaincover.report.picture import as_svg
from chaincover.report.saved_result import SavedResult, read_result
from chaincover.report.waveform import waveform
from chaincover.result import ChainResult, Listener, SeveralChains
from chaincover.steps import Steps
from chaincover.subject import Subject
from chaincover.target.judge import JudgedRun
from chaincover.target.original import replay as replay_stimulus
from chaincover.verdicts import infeasible
from chaincover.verification.limits import Limits
from chaincover.verification.report import Verification
from chaincover.verification.several import verify_chains
from chaincover.verification.verification import verify as verify_document

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class _Decoding(Generic[Answer]):
    """Tells a listener what a run tells, each answer as ``decode`` makes it: chains with their steps."""

    tell: Callable[[str], None]
    better: Callable[[Callable[[], Answer]], None]
    decode: Callable[[Answer], Answer]

    def __call__(self, text: str) -> None:
        self.tell(text)

    def improved(self, result: Callable[[], Answer]) -> None:
        """There is a better answer, which ``result`` makes."""
        self.better(lambda: self.decode(result()))


def generate(problem: Problem, options: Options | None = None, listener: Listener | None = None) -> ChainResult:
    """One chain that covers all goals; where it is proved that none does, or none as short as ``options`` want it, as
    ``generate_most``.

    UsageError for options that contradict each other, InputRefused for a problem that cannot be one.
    """
    return _with_steps(problem, maximum_coverage.generate_all_or_most(problem, options, _decoding(problem, listener)))


def generate_most(problem: Problem, options: Options | None = None, listener: Listener | None = None) -> ChainResult:
    """One chain that covers as many goals as possible, as short as possible among these. Errors as in ``generate``.

    The verdict of each goal left out says whether the number is proved.
    """
    return _with_steps(problem, maximum_coverage.generate_most(problem, options, _decoding(problem, listener)))


def generate_several(
    problem: Problem, options: Options | None = None, listener: ListenerOfSeveral | None = None
) -> SeveralChains:
    """Cover the goals of ``problem`` with chains from init to its final condition; one chain where one suffices.

    At a limit or an interrupt the best chains so far are the answer. Errors as in ``generate``.
    """
    decode = partial(_with_steps_of_each, problem)
    decoding = None if listener is None else _Decoding(listener, listener.improved, decode)
    return decode(several.generate_several(problem, options, decoding))


def _decoding(problem: Problem, listener: Listener | None) -> Listener | None:
    return None if listener is None else _Decoding(listener, listener.improved, partial(_with_steps, problem))


def read(place: str | Path) -> SavedResult:
    """A result in a file or a folder (``chain.json``, ``chains.json``), without its program: see ``SavedResult``.

    InputRefused, with its place, where it cannot be read.
    """
    return read_result(str(place))


def load(what: str | Path | Request) -> Subject:
    """The controller at a path (a C file, a chaincover.toml or a folder with one), or what a ``Request`` names.

    The invariants that it states are proved, where they can be. InputRefused or UsageError with the place of what is
    wrong.
    """
    subject = load_request(_request(what))
    return replace(subject, system=prepare(subject, choose_engine("auto")))


def replay(subject: Subject, what: ChainResult | Chain | str | Path | Sequence[Valuation]) -> JudgedRun:
    """Run inputs on the compiled original (without a compiler: on the model), and judge the goals of ``subject``.

    ``what``: a result, a chain, a file (``chain.json``, ``inputs.csv``), or the raw value of each input in each step.
    """
    aside: Sequence[str] = ()
    if isinstance(what, ChainResult):
        if what.chain is None:
            raise UsageError("this result holds no chain", hint="look at its verdicts")
        aside, what = infeasible(subject.goals, what.verdicts), what.chain
    if isinstance(what, Chain):
        stimulus = stimulus_of(subject.system, what)
    elif isinstance(what, str | Path):
        stimulus = read_stimulus(str(what), subject.system, subject.value_names)
    else:
        stimulus = Stimulus("the caller", tuple(what), {}, {}, ())
    return replay_stimulus(subject, stimulus, aside)


def verify(
    what: str | Path | Request, chain: str | Path, effort: float | None = 1.0, time_limit: float | None = None
) -> Verification:
    """Check a ``chain.json``, a ``chains.json`` or the folder with it, and its proofs, by means of its own.

    Goals, final condition and macros are those that the file names, unless a ``Request`` names others. ``effort`` is
    for each proof, in units of about a minute (None: no limit).
    """
    place, request, limits = chain_place(str(chain)), _request(what), Limits.of(effort, time_limit)
    if place.name == CHAINS_FILE:
        return verify_chains(place, request, limits)
    document = read_document(place)
    return verify_document(load_for(document, request), document, limits)


def save(subject: Subject, result: ChainResult | SeveralChains, folder: str | Path) -> None:
    """Write ``chain.json``, and ``chain.csv`` if there is a chain, each whole or not (docs/reference/results.md).

    Of several chains the files have the number of the chain in their names, and ``chains.json`` names them.
    """
    place = prepare_folder(str(folder))
    texts: dict[Path, Iterable[str]] = {}
    several = result if isinstance(result, SeveralChains) else None
    for number, each in enumerate([result] if isinstance(result, ChainResult) else result.results, 1):
        name = "chain" if several is None else f"chain-{number}"
        part = subject if several is None else part_of(subject, each)
        texts[place / f"{name}.json"] = json_parts(chain_document(part, each))
        if each.chain is not None:
            texts[place / f"{name}.csv"] = csv_lines(part, each.chain)
    if several is not None:
        options = several.results[0].options if several.results else Options()
        texts[place / CHAINS_FILE] = json_parts(chains_document(subject, options, several))
    write_texts(texts)


def _request(what: str | Path | Request) -> Request:
    return what if isinstance(what, Request) else Request(str(what))


# chains with their steps as users read them


def _with_steps(problem: Problem, result: ChainResult) -> ChainResult:
    """``result`` with the steps of its chain as users read them."""
    chain = result.chain
    if chain is None:
        return result
    steps = Steps(ChainRows(problem.system, chain, problem.goals), partial(_drawn, problem, chain))
    return replace(result, chain=replace(chain, decoded=steps))


def _with_steps_of_each(problem: Problem, found: SeveralChains) -> SeveralChains:
    """``found`` with the steps of each of its chains as users read them."""
    return replace(found, results=tuple(_with_steps(problem, each) for each in found.results))


def _drawn(problem: Problem, chain: Chain) -> str:
    """The waveform of ``chain`` as SVG. Values have the names of enumerators; others are in files alone."""
    document = _document(problem, chain)
    shown = variables(document)
    trace = chain_trace(document, shown, problem.system.name)
    assert trace is not None
    return as_svg(waveform(trace, chosen_variables(trace, shown, ())))


def _document(problem: Problem, chain: Chain) -> dict[str, Any]:
    """What a drawing needs of a result, as its file has it."""
    system = problem.system
    inputs = [(var, show_ranges(var.values, var.type)) for var in system.inputs]
    return {
        "controller": {
            "inputs": [{"name": var.name, "type": var.type.name, "values": values} for var, values in inputs],
            "state": [{"name": var.name, "type": var.type.name} for var in reported(system, "state")],
            "outputs": [{"name": var.name, "type": var.type.name} for var in reported(system, "output")],
        },
        "chain": {
            "initial": start_record(system, chain),
            "steps": ChainRows(system, chain, problem.goals),
            "hits": hits_data(problem, chain),
            "failures": [{"goal": hit.goal, "step": hit.step} for hit in chain.failures],
        },
    }
