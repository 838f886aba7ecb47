"""The functions of the public face that join rooms together (docs/reference/api.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from bmc.engines import choose as choose_engine
from bmc.errors import UsageError
from bmc.system.transition import Valuation
from chaincover.chain import Chain
from chaincover.check.analysis import prepare
from chaincover.formats.chain_file import Stimulus, csv_lines, read_stimulus, stimulus_of
from chaincover.formats.document import CHAINS_FILE, chain_place, read_document
from chaincover.formats.output import json_parts, prepare_folder, write_texts
from chaincover.formats.recorded_subject import load_for
from chaincover.formats.writer import chain_document, chains_document
from chaincover.options import Options
from chaincover.partition.maximum_coverage import generate_all_or_most
from chaincover.project.load import Request, load_request
from chaincover.report.console_generate import part_of
from chaincover.result import ChainResult, SeveralChains
from chaincover.subject import Subject
from chaincover.target.judge import JudgedRun
from chaincover.target.original import replay as replay_stimulus
from chaincover.verdicts import infeasible
from chaincover.verification.limits import Limits
from chaincover.verification.report import Verification
from chaincover.verification.several import verify_chains
from chaincover.verification.verification import verify as verify_document

generate = generate_all_or_most


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
