"""What a report is made of: the files that commands left in a folder, read as data, and what is missing among them."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from hashlib import sha256
from pathlib import Path
from typing import Any

from bmc.errors import InputRefused, Location, counted, listed
from bmc.limits import read_json, read_text
from bmc.records import dataclass
from chaincover.formats.chain_file import CHAINS_SCHEMA, CHECK_SCHEMA, SCHEMA, coverage_place, violation_file
from chaincover.formats.coverage_file import COVERAGE_SCHEMA, fitting
from chaincover.formats.document import CHAIN_FILE, CHAINS_FILE, DAMAGED
from chaincover.formats.result_file import most_bytes, result_data, whole_members
from chaincover.formats.table_style import whole_steps
from chaincover.report.documents import JUDGED_SCHEMA, JUDGEMENTS_SCHEMA, RUN_SCHEMA, VERIFIED_SCHEMA
from chaincover.target.log import SCHEMA as LOG_SCHEMA

KNOWN = {
    schema.rpartition("/")[0]: schema
    for schema in (
        *(SCHEMA, CHAINS_SCHEMA, RUN_SCHEMA, JUDGED_SCHEMA, JUDGEMENTS_SCHEMA, LOG_SCHEMA, VERIFIED_SCHEMA),
        *(CHECK_SCHEMA, COVERAGE_SCHEMA),
    )
}
"""The documents that a report shows, by their names without a version."""

_RESULTS = ("chains", "judged", "logs", "verified", "checked", "rows", "coverage")
_KINDS = (*_RESULTS, "violations", "notes")
"""What is found in files: results of each kind, the runs of violations that a summary names, and what is missing."""

_LISTED = {
    "chaincover/judged": "judged",
    "chaincover/verification": "verified",
    "chaincover/check": "checked",
    "chaincover/coverage": "coverage",
}
"""Where the documents of these names are listed, each with the name of its file."""

NEXT = "name a folder of 'chaincover generate', or files such as chain.json, judged.json, online.jsonl, rows.jsonl"


@dataclass(frozen=True)
class SavedChain:
    """One chain: the ``data`` of its file, those of its ``run`` file, the tables of runs that violate a requirement.

    ``violations``: by goal, the rows of the table, each by column.
    """

    file: str
    data: Mapping[str, Any]
    run: Mapping[str, Any] | None = None
    violations: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceText:
    """A source file beside the result: its ``text``, None with the reason why it is not shown in ``missing``.

    ``place``: where it was read, None where it was not. ``there``: whether there is a file of its name.
    """

    file: str
    text: str | None
    missing: str = ""
    place: Path | None = None
    there: bool = True

    @property
    def note(self) -> str:
        """That it is not shown, in a sentence; '' where it is."""
        return "" if self.text is not None else f"The source {self.file} is not shown: {self.missing}."


@dataclass(frozen=True)
class Saved:
    """All that was read: chains, the summary of several, judgements, logs of runs on line, what ``verify`` and
    ``check`` say, rows of a benchmark, and the ``coverage`` of these chains.

    ``notes`` say what is missing, a sentence each. ``earlier`` are the chains of an earlier result.
    """

    chains: tuple[SavedChain, ...] = ()
    summary: Mapping[str, Any] | None = None
    judged: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    logs: tuple[tuple[str, Sequence[Mapping[str, Any]]], ...] = ()
    verified: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    checked: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    rows: tuple[tuple[str, Sequence[Mapping[str, Any]]], ...] = ()
    coverage: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    sources: tuple[SourceText, ...] = ()
    notes: tuple[str, ...] = ()
    earlier: Mapping[str, Any] | None = None

    @property
    def first(self) -> Mapping[str, Any]:
        """The document that says what the controller and its goals are: the first chain's, or the summary; else {}."""
        return self.chains[0].data if self.chains else self.summary or {}

    @property
    def notes_on_data(self) -> list[str]:
        """``notes`` for a report that shows no source: without those that were only not found."""
        aside = {source.note for source in self.sources if not source.there}
        return [note for note in self.notes if note not in aside]


def read_saved(places: Sequence[str], sources: str | None = None, earlier: str | None = None) -> Saved:
    """What the folders and files ``places`` hold.

    ``sources``: the folder with the controller's sources; where it is None, those of ``places``, the folder above each
    and the one that the command of the result named are looked at. ``earlier``: the result that is compared with.
    InputRefused, with its place, where a file that was named cannot be read, or where nothing of a result is found.
    """
    found: dict[str, list[Any]] = {kind: [] for kind in _KINDS}
    summaries: list[Mapping[str, Any]] = []
    for file, named in dict(_files(places)).items():
        _read(file, named, found, summaries)
    if not any(found[kind] for kind in _RESULTS) and not summaries:
        raise InputRefused("no result was found here", Location(", ".join(places)), NEXT)
    if found["chains"] and found["violations"]:  # the summary of several chains has these, and the chains have not
        first = found["chains"][0]
        found["chains"][0] = SavedChain(first.file, first.data, first.run, dict(found["violations"]))
    before = None if earlier is None else _earlier(earlier)
    _leave_out_strangers(found, summaries)
    coverage, left_out = _coverage(found)
    saved = Saved(
        *(tuple(found["chains"]), summaries[0] if summaries else None),
        judged=tuple(found["judged"]),
        logs=tuple(found["logs"]),
        verified=tuple(found["verified"]),
        checked=tuple(found["checked"]),
        rows=tuple(found["rows"]),
        coverage=tuple(coverage),
        notes=(*found["notes"], *left_out),
        earlier=before,
    )
    folders = [Path(sources)] if sources else [*_near(places), *_asked(saved.chains)]
    again = shlex.join(["chaincover", "report", *places, "--sources", "DIR"])
    texts = tuple(_sources([saved.first, *(data for _, data in coverage)], folders, again))
    missing = tuple(text.note for text in texts if text.note)
    return Saved(**{**vars(saved), "sources": texts, "notes": (*saved.notes, *missing)})


def _files(places: Sequence[str]) -> Iterator[tuple[Path, bool]]:
    """The files that ``places`` stand for, of a folder the results in it, in a fixed order; and whether each is named
    itself."""
    for place in map(Path, places):
        if not place.is_dir():
            yield place, True
            if place.name == CHAIN_FILE or _number(place.name) is not None:
                yield from ((own, True) for own in [coverage_place(place)] if own.is_file())
        else:
            yield from _files_in(place)


def _files_in(folder: Path) -> Iterator[tuple[Path, bool]]:
    """The results in a folder, and whether each is of its chains, which are named with it."""
    names = sorted(each.name for each in folder.iterdir() if each.suffix in (".json", ".jsonl"))
    first = [CHAIN_FILE] if CHAIN_FILE in names else [CHAINS_FILE] if CHAINS_FILE in names else []
    numbered = [name for name in names if _number(name) is not None] if first == [CHAINS_FILE] else []
    chosen = [*first, *sorted(numbered, key=lambda name: _number(name) or 0)]
    yield from ((folder / name, name in chosen) for name in [*chosen, *(n for n in names if _beside(n))])


def _number(name: str) -> int | None:
    """The number in ``chain-3.json``, None for another name."""
    text = name.removeprefix("chain-").removesuffix(".json")
    return int(text) if name == f"chain-{text}.json" and text.isdecimal() else None


def _beside(name: str) -> bool:
    """Whether a file of this name belongs into the report of its folder; run files come with their chain."""
    aside = name in (CHAIN_FILE, CHAINS_FILE, "run.json") or _number(name) is not None
    return not aside and not (name.startswith("run-") and name.endswith(".json"))


def _read(file: Path, named: bool, found: dict[str, list[Any]], summaries: list[Mapping[str, Any]]) -> None:
    """Read one file into the list of its kind. InputRefused where it cannot be read, or is none of a result.

    A file that was not ``named``, but lies in a folder that was, may be anything: then it is passed over.
    """
    text = read_text(file, "the result", NEXT, most=most_bytes())
    where = Location(str(file))
    if file.suffix == ".jsonl":
        lines = [*_lines(text, where)]
        kind = "logs" if str(lines[0].get("schema", "")).startswith("chaincover/online/") else "rows"
        found[kind].append((file.name, lines))
        return
    data, cut = _whole_or_part(text, where)
    schema = data.get("schema") if isinstance(data, dict) else None
    kind = str(schema).rpartition("/")[0]
    known = kind in KNOWN
    if not known and not named:
        return
    if not known:
        raise InputRefused(f"this is no result of ChainCover (its schema is {schema!r})", where, NEXT)
    if cut:
        found["notes"].append(f"{file.name} is cut off {cut}. What stands before that is shown.")
    if schema != KNOWN[kind]:
        found["notes"].append(
            f"{file.name} is of the schema {schema}, and this version writes {KNOWN[kind]}: "
            "what is not in it is left out. Generate it again for the whole report."
        )
    if kind == "chaincover/chain":
        found["notes"] += contradictions(file.name, data)
        found["chains"].append(_chain(file, data, found["notes"]))
    elif kind == "chaincover/chains":
        summaries.append(data)
        found["violations"] += _violations_of(file, data, found["notes"]).items()
    elif kind == "chaincover/judgements":
        found["judged"] += [(f"{file.name}: {own['chain']}", own) for own in data["chains"]]
    elif kind in _LISTED:
        found[_LISTED[kind]].append((file.name, data))


def _whole_or_part(text: str, where: Location) -> tuple[Any, str]:
    """The data in a text; of a result that is cut off what is whole in it, and what is wrong with it.

    InputRefused where that is no goal.
    """
    try:
        return result_data(text, where), ""
    except InputRefused:
        part = whole_members(text, where)
        if "goals" not in part:
            raise
        return part, f"behind {[*part][-1]!r}"


def contradictions(name: str, data: Mapping[str, Any]) -> Iterator[str]:
    """What cannot be so in the chain of the file ``name``, a sentence each: no chain, nor that there is none; fewer
    steps than its length says; goals beyond its end."""
    if "chain" not in data:
        yield f"{name} is damaged: it has no entry 'chain'."
    with suppress(*DAMAGED):
        own = data["chain"] or {"length": 0, "steps": (), "hits": ()}
        if own["length"] != len(own["steps"]):
            steps = counted(own["length"], "step")
            yield f"{name} is damaged: its chain is to have {steps}, and {len(own['steps'])} are in the file."
        for hit in own["hits"]:
            if not 0 <= hit["step"] <= own["length"]:
                yield f"{name} is damaged: {hit['goal']} is to be covered at step {hit['step']} of {own['length']}."


def _leave_out_strangers(found: dict[str, list[Any]], summaries: Sequence[Mapping[str, Any]]) -> None:
    """Leave out what is of another controller than the chains, or their summary, with a note.

    A controller is known by its name; a document that tells none may be of any.
    """
    documents = [*(chain.data for chain in found["chains"]), *summaries]
    own = next((name for document in documents if (name := _controller(document))), "")
    for kind in _LISTED.values():
        for file, data in found[kind] if own else ():
            if (other := _controller(data)) not in ("", own):
                found["notes"].append(f"{file} is of the controller {other}, and this result of {own}: it is left out.")
        found[kind] = [(file, data) for file, data in found[kind] if not own or _controller(data) in ("", own)]


def _controller(document: Mapping[str, Any]) -> str:
    """The name of the controller of a document, '' where it tells none."""
    controller = document.get("controller")
    name = controller.get("name") if isinstance(controller, dict) else controller
    return name if isinstance(name, str) else ""


def _coverage(found: Mapping[str, list[Any]]) -> tuple[list[tuple[str, Mapping[str, Any]]], list[str]]:
    """The coverage of the chains that were read, and why other coverage is left out."""
    try:
        return fitting(found["coverage"], [(chain.file, chain.data) for chain in found["chains"]])
    except DAMAGED as error:
        return [], [f"No coverage is shown: its file is damaged ({damage(error)})."]


def _lines(text: str, where: Location) -> Iterator[Mapping[str, Any]]:
    """The objects of a file with one a line; a last line that is not whole is left out, as of a run that was killed."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = read_json(line, Location(where.file, number))
        except InputRefused:
            if number < len(lines):
                raise
            return
        if not isinstance(data, dict):
            raise InputRefused("this line is no object", Location(where.file, number), NEXT)
        yield data
    if not text.strip():
        raise InputRefused("the file is empty", where, NEXT)


def _chain(file: Path, data: Mapping[str, Any], notes: list[str]) -> SavedChain:
    """A chain with what lies beside its file."""
    beside = file.with_name(file.name.replace("chain", "run", 1))
    run = None
    if beside != file and beside.is_file():
        try:
            read = read_json(read_text(beside, "the run", most=most_bytes()), Location(str(beside)))
            run = read if isinstance(read, dict) else None
        except InputRefused as error:
            notes.append(f"What the run itself left cannot be shown: {error.message} ({beside.name}).")
    else:
        notes.append(f"There is no {beside.name} beside {file.name}: replay, times and host are not shown.")
    return SavedChain(file.name, data, run, _violations_of(file, data, notes))


def _violations_of(file: Path, data: Mapping[str, Any], notes: list[str]) -> dict[str, list[dict[str, str]]]:
    """The table of each requirement that can fail, by its goal; none, and a note, where the rulings are damaged."""
    try:
        return dict(_violations(file, data, notes))
    except DAMAGED:
        notes.append("What is said of requirements is damaged: runs that violate them are not shown.")
        return {}


def _violations(file: Path, data: Mapping[str, Any], notes: list[str]) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """The table of each requirement that can fail."""
    rulings = (data.get("requirements") or {}).get("rulings") or []
    for ruling in rulings:
        if not isinstance(ruling, dict) or not ruling.get("test"):
            continue
        place = file.with_name(Path(violation_file(str(ruling.get("goal")))).name)
        try:
            text, inputs = read_text(place, "the violation", most=most_bytes()), ruling["test"].get("inputs") or ()
            rows = whole_steps(place, text, inputs[0], len(inputs)) if inputs else []
        except InputRefused as error:
            notes.append(f"Of the run in {place.name} only the inputs are shown: {error.message}.")
            rows = []
        yield str(ruling["goal"]), rows


def _earlier(place: str) -> Mapping[str, Any]:
    """The document of an earlier result."""
    file = Path(place)
    if file.is_dir():
        file = file / (CHAIN_FILE if (file / CHAIN_FILE).exists() else CHAINS_FILE)
    data = result_data(read_text(file, "the earlier result", NEXT, most=most_bytes()), Location(str(file)))
    if not isinstance(data, dict) or not str(data.get("schema")).startswith("chaincover/chain"):
        raise InputRefused("this is no chain", Location(str(file)), "name an earlier chain.json or its folder")
    return data


def _near(places: Sequence[str]) -> list[Path]:
    """The folders in which sources are looked for: those of the results, and those in which these lie."""
    folders = [place if place.is_dir() else place.parent for place in map(Path, places)]
    return [*dict.fromkeys([*folders, *(folder / ".." for folder in folders)])]


def _asked(chains: Sequence[SavedChain]) -> Iterator[Path]:
    """The folders of the projects as they were typed, where they lie in the working folder."""
    for chain in chains:
        words = (chain.run or {}).get("asked")
        if isinstance(words, list) and words and isinstance(words[0], str) and os.path.exists(words[0]):
            place = Path(words[0])
            folder = place if place.is_dir() else place.parent
            if folder.resolve().is_relative_to(Path().resolve()):
                yield folder


def _sources(documents: Sequence[Mapping[str, Any]], folders: Sequence[Path], again: str) -> Iterator[SourceText]:
    """The source files that the documents name, a chain first, then those with its coverage.

    Each is the one with the bytes that its hash was made of. ``again`` is to be typed where they lie in the folder DIR.

    A name that leads out of its folder is not followed.
    """
    named: dict[str, str] = {}
    with suppress(*DAMAGED):
        named = {str(each["file"]): str(each["sha256"]) for each in documents[0]["controller"]["sources"]}
    for document in documents[1:]:
        with suppress(*DAMAGED):
            named = {**{str(each["file"]): str(each["sha256"]) for each in document["files"]}, **named}
    looked = listed([*dict.fromkeys(f"{os.path.normpath(folder)}/" for folder in folders)])
    for name, digest in named.items():
        missing, there = f"it is not in {looked}; type '{again}' with its folder as DIR", False
        text, read = None, None
        for folder in folders:
            place = (folder / name).resolve()
            if not place.is_relative_to(folder.resolve()):
                missing, there = f"its name leads out of the folder {os.path.normpath(folder)}", True
                continue
            if not place.is_file():
                continue
            own = place.read_bytes() if place.stat().st_size <= most_bytes().most else b""
            if sha256(own).hexdigest() == digest:
                text, read = own.decode("utf-8", "replace"), place
                break
            differs = f"{os.path.normpath(folder / name)} has changed since the result was made"
            missing, there = (
                f"{differs}; generate that again, or type '{again}' with the folder of the old one",
                True,
            )
        yield SourceText(name, text, "" if text is not None else missing, read, text is not None or there)


def safely(what: str, make: Callable[[], Any], notes: list[str]) -> Any:
    """What ``make`` makes; None, and a sentence more in ``notes``, where the result's data are damaged."""
    try:
        return make()
    except DAMAGED as error:
        notes.append(f"{what[0].upper()}{what[1:]} cannot be made: the result is damaged ({damage(error)}).")
        return None


def damage(error: Exception) -> str:
    """What is wrong with damaged data, in words: which entry is not there, or what Python says of the data."""
    return f"it has no entry {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"


def as_text(value: object) -> str:
    """A value of a result as a reader sees it: numbers and texts as they stand there."""
    return value if isinstance(value, str) else json.dumps(value)
