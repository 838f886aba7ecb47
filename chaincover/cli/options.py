"""The options that several commands share, gathered into typed records before a command sees them."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable
from dataclasses import fields, replace
from math import isfinite, isinf
from typing import Any, TypeVar

import click

from bmc import ending, footprint
from bmc.ending import INTERRUPT
from bmc.engines import NAMES as ENGINES
from bmc.engines import choose as choose_engine
from bmc.errors import InputRefused, LimitReached
from bmc.native.build import NO_NATIVE
from bmc.records import dataclass
from bmc.system.ties import MOST_TICKS
from chaincover.chain import STORED
from chaincover.cli.entry import interrupt_after, seconds_gone
from chaincover.cli.help import PLACE, quiet_option
from chaincover.cli.progress import Progress
from chaincover.formats.table_style import DELIMITERS
from chaincover.limits import Limits
from chaincover.options import ORDERINGS, Options
from chaincover.project.bounds import UseOfBounds
from chaincover.project.load import Request, load_request
from chaincover.subject import Settings, Subject

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]

PREPARING = 0.2
"""The part of the limits that proving the project's invariants may take before the search."""


class Number(click.ParamType):  # type: ignore[type-arg]
    """A finite number above 0."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        number = float(click.FLOAT.convert(value, param, ctx))
        if not isfinite(number) or number <= 0:
            self.fail(f"{value!r} is no number above 0", param, ctx)
        return number


class Amount(Number):
    """A finite number above 0, or ``none`` for no limit."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; infinite for ``none``."""
        return float("inf") if value == "none" else super().convert(value, param, ctx)


SECONDS = Number()
COUNT = click.IntRange(min=0)


@dataclass(frozen=True)
class Shown:
    """How much a command tells, and as what."""

    as_json: bool = False
    verbose: int = 0
    quiet: bool = False

    @property
    def text(self) -> bool:
        """Whether the result is told as text."""
        return not self.as_json and not self.quiet

    def progress(self) -> Progress:
        """Progress as verbose as asked for."""
        return Progress(-1 if self.quiet else self.verbose)


@dataclass(frozen=True)
class Search:
    """The options of a search as they were given; None where the project or the default decides."""

    bound: int | None = None
    overlap: str | None = None
    ordering: str | None = None
    engine: str | None = None
    effort: float | None = None
    repair: str | None = None
    max_length: int | None = None
    time_limit: float | None = None
    query_limit: float | None = None
    memory_limit: int | None = None


def gathers(name: str, record: type, *options: Decorator[Any]) -> Decorator[Any]:
    """A decorator for commands: takes ``options``, and hands them on as one ``record``, the argument ``name``."""
    known = {field.name for field in fields(record)}

    def decorate(command: F) -> F:
        @functools.wraps(command)
        def gathered(**values: Any) -> Any:
            own = {key: values.pop(key) for key in known & values.keys()}
            return command(**values, **{name: record(**own)})

        for option in reversed(options):
            gathered = option(gathered)
        return gathered  # type: ignore[return-value]

    return decorate


hold_option = click.option(
    "--hold",
    type=click.IntRange(1, MOST_TICKS),
    metavar="N",
    help="Inputs change only every N steps; 1: in every step, whatever the project says.",
)
engine_option = click.option("--engine", type=click.Choice(ENGINES), help="Who answers the reachability questions.")
bound_option = click.option("-K", "--bound", type=COUNT, metavar="K", help="Largest weight; without it K grows.")
overlap_option = click.option("--overlap", type=click.Choice(["allow", "forbid"]), help="May goals share steps?")
effort_option = click.option(
    "--effort",
    type=Amount(),
    metavar="N",
    help="Most work that is done, in units of about a minute; what is known by then is the result. none: as much as it "
    "takes. Default: 1.",
)


def _end_after(ctx: click.Context, param: click.Parameter, seconds: float | None) -> float | None:
    """Let the whole command end after ``seconds``, reading included, whatever it does then."""
    if seconds is not None:
        left = max(0.0, seconds - seconds_gone())
        ending.end_at(time.monotonic() + left)
        interrupt_after(left)
    return seconds


time_option = click.option(
    "--time-limit", type=SECONDS, metavar="SECONDS", callback=_end_after, help="For the whole run."
)
init_time_option = click.option(
    "--time-limit",
    type=SECONDS,
    metavar="SECONDS",
    callback=_end_after,
    default=20.0,
    show_default=True,
    help="For the whole run; what is known by then is written.",
)


def _within_memory(ctx: click.Context, param: click.Parameter, megabytes: int | None) -> int | None:
    """Let the command and its children take no more than so much memory together."""

    def end() -> None:
        footprint.allow(None)
        footprint.unlimit_data()

    footprint.allow(megabytes)
    footprint.limit_data()
    ctx.call_on_close(end)
    return megabytes


memory_option = click.option(
    "--memory-limit",
    type=click.IntRange(min=1),
    metavar="MB",
    callback=_within_memory,
    help="For the process and its children together. Default: half of the machine's memory.",
)
query_option = click.option(
    "--query-limit",
    type=SECONDS,
    metavar="SECONDS",
    help="For a single question; what it leaves open is undecided.",
)
work_options = (
    engine_option,
    effort_option,
    query_option,
)
graph_options = gathers("search", Search, bound_option, overlap_option, *work_options, time_option)
comparison_options = gathers(
    "search",
    Search,
    bound_option,
    overlap_option,
    *work_options,
    time_option,
)
search_options = gathers(
    "search",
    Search,
    bound_option,
    overlap_option,
    click.option("--ordering", type=click.Choice(ORDERINGS), help="Who orders the goals."),
    click.option(
        "--repair",
        type=click.Choice(["auto", "refine", "paths", "none"]),
        help="Where no repair of the shortest order gives a chain: refine (split triggers), paths (path constraints).",
    ),
    *work_options,
    click.option("--max-length", type=COUNT, metavar="STEPS", help=f"No chain longer than this. Default: {STORED:,}."),
    memory_option,
    time_option,
)


def name_pairs(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Macros with their values; 1 where none is given."""
    found = (text.partition("=") for text in texts)
    return tuple((name, value if equals else "1") for name, equals, value in found)


def _without_native(ctx: click.Context, param: click.Parameter, given: bool) -> None:
    """Let nothing be compiled, loaded or run until the command ends."""
    if given:
        before = os.environ.get(NO_NATIVE)
        os.environ[NO_NATIVE] = "1"
        ctx.call_on_close(lambda: os.environ.pop(NO_NATIVE) if before is None else None)


_REQUEST = (
    click.argument("path", metavar="PATH", type=PLACE),
    click.option("--goal", "select", multiple=True, metavar="NAME", help="Only these goals (shell patterns)."),
    click.option("--exclude", multiple=True, metavar="NAME", help="Leave these goals out (shell patterns)."),
    click.option("--property", "properties", multiple=True, metavar="TEXT", help="A further property, as text."),
    click.option(
        "--cover",
        multiple=True,
        metavar="CRITERION",
        help="Goals of a coverage criterion too: states(x), transitions(x), branches(), conditions(), mcdc(), ...",
    ),
    click.option(
        "--final",
        metavar="EXPR",
        help="Condition in which a chain must end: a C expression; init: a state like the one after init; "
        "none: a chain may end anywhere, whatever the project says.",
    ),
    click.option("-I", "include", multiple=True, metavar="DIR", type=PLACE, help="Folder of headers."),
    click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", callback=name_pairs, help="Define a macro."),
    click.option(
        "--no-native",
        is_flag=True,
        expose_value=False,
        callback=_without_native,
        help="Compile, load and run no code: replay is on the model only, and large state spaces take longer.",
    ),
)
request_options = gathers("request", Request, *_REQUEST)
held_request_options = gathers("request", Request, *_REQUEST, hold_option)

delimiter_option = click.option(
    "--delimiter", type=click.Choice([*DELIMITERS]), help="Between the columns of tables.  [default: comma]"
)
comma_option = click.option(
    "--decimal-comma", is_flag=True, help="Write numbers of tables with a comma, columns between semicolons."
)
changes_option = click.option(
    "--changes-only", is_flag=True, help="Leave out of tables what is as in the step before, and steps without changes."
)


def table_options(command: F) -> F:
    """How tables are written: ``delimiter``, ``decimal_comma`` and ``changes_only``."""
    return delimiter_option(comma_option(changes_option(command)))


coverage_option = click.option(
    "--coverage",
    is_flag=True,
    help="Measure what lines and branches are executed, into coverage.json beside the chain.",
)

junit_option = click.option(
    "--junit", metavar="FILE", type=PLACE, help="Write what became of each goal and requirement as JUnit."
)

shown_options = gathers(
    "shown",
    Shown,
    click.option("--json", "as_json", is_flag=True, help="The result as JSON on stdout, and nothing else there."),
    click.option("-v", "--verbose", count=True, help="All that was found; progress line by line on stderr."),
    quiet_option,
)


def read_controller(
    request: Request, progress: Progress, unconfirmed: bool = False, bounds: UseOfBounds = UseOfBounds.REFUSED
) -> Subject:
    """The controller that the options name, with stubs that are not confirmed only where these are looked at; what
    depends on functions of the C library of which only bounds are known is dealt with as ``bounds`` says."""
    with progress.stage("read"), ending.interruptible():
        subject = load_request(request, unconfirmed, bounds)
        ending.reads(str)
        return subject


def settings(search: Search, project: Settings) -> Options:
    """The settings of a search, by its options, else by the project, else by default."""
    chosen: dict[str, Any] = {
        "bound": project.bound if search.bound is None else search.bound,
        "overlap": search.overlap or project.overlap,
        "ordering": search.ordering or project.ordering,
    }
    same = ("engine", "repair", "max_length", "time_limit", "query_limit", "memory_limit")
    chosen |= {name: value for name in same if (value := getattr(search, name)) is not None}
    if search.effort is not None:
        chosen["effort"] = None if isinf(search.effort) else search.effort
    return Options(**chosen)


def no_goal(subject: Subject) -> InputRefused:
    """That there is nothing to look for, and how goals are given to a model of this kind."""
    hint = "write property functions p_*, [[property]] tables in the project file, or give --property TEXT"
    if subject.model.parts("transitions"):
        hint = "give --cover 'transitions()' for all of them, [[property]] tables in a project file, or --property TEXT"
    return InputRefused("there is no goal to cover, and no final condition to reach", subject.settings.where, hint)


def prepare(
    request: Request, search: Search, progress: Progress, bounds: UseOfBounds = UseOfBounds.REFUSED
) -> tuple[Subject, Options]:
    """The controller that is asked for with its invariants proved, and the settings of the search."""
    return prepared(read_controller(request, progress, bounds=bounds), search, progress)


def prepared(subject: Subject, search: Search, progress: Progress) -> tuple[Subject, Options]:
    """A controller that was read with its invariants proved, and the settings of the search."""
    from chaincover.check.analysis import prepare as proved

    if not subject.goals and not subject.final_text:
        raise no_goal(subject)
    options = settings(search, subject.settings)
    options.check()
    with progress.stage("check"):
        limits, engine = Limits(options.time_limit, options.query_limit, options.effort), choose_engine(options.engine)
        limits.watch(engine)
        try:
            with ending.interruptible():
                subject = replace(subject, system=proved(subject, engine, limits.share(PREPARING)))
        except LimitReached as error:
            ending.call_off(error.limit)
        except KeyboardInterrupt as error:  # nothing is proved then, and the search ends as it begins
            ending.call_off(str(error) or INTERRUPT)
    return subject, options
