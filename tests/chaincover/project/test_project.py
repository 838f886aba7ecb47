"""Project files: what each key does, and what holds where a key is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import MODELS, ROOT, chaincover, fresh_names, write_files
from small_programs import COUNTER, GOOD, REACH, program, project

from benchmarks.checks.short_runs import short_runs
from bmc.errors import InputRefused
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem
from chaincover.project.load import Request, load, load_request
from chaincover.project.project_file import read_project
from chaincover.subject import Subject


@pytest.fixture(autouse=True)
def _names() -> Iterator[None]:
    with fresh_names():
        yield


def read(folder: Path, toml: str, code: str = GOOD, **given: object) -> Subject:
    write_files(folder, {"c.c": code, "chaincover.toml": toml})
    return load_request(Request(str(folder), **given))  # type: ignore[arg-type]


def roles(system: TransitionSystem) -> dict[str, str]:
    found = {variable.name: "input" for variable in system.inputs}
    return found | {variable.name: variable.role for variable in system.state if variable.role != "internal"}


# without a project file, and with the least of one


def test_convention(tmp_path: Path) -> None:
    """The paper's: init, compute, p_*; no other name is asked for."""
    after = "void p_1(t_in *i, t_st *s) { compute(i, s); }\nvoid q_1(t_in *i, t_st *s) { compute(i, s); }"
    write_files(tmp_path, {"counter.c": program(after=after)})
    project = read_project(str(tmp_path / "counter.c"))
    subject = load(project)
    assert (project.by_convention, project.overlap, project.ordering, project.bound) == (True, "allow", "auto", None)
    assert subject.system.name == "counter"
    assert [goal.name for goal in subject.goals] == ["p_1"]
    assert (subject.final, subject.final_text) == (None, "")
    assert roles(subject.system) == {"i->a": "input", "i->b": "input", "s->n": "state", "s->m": "state"}


def test_least_project_file(tmp_path: Path) -> None:
    write_files(tmp_path, {"motor/c.c": GOOD, "motor/chaincover.toml": '[sources]\nfiles = ["c.c"]\n'})
    project = read_project(str(tmp_path / "motor" / "chaincover.toml"))
    assert project.config.name == "motor"
    assert not project.by_convention
    assert load(project).goals == ()


# sources


def test_sources_in_other_folders(tmp_path: Path) -> None:
    """Files are relative to the project file; its folder and ``include`` are searched for headers; defines hold."""
    files = {
        "p/chaincover.toml": """\
period = 0.5
[sources]
files = ["src/step.c", "../shared/add.c"]
include = ["include"]
defines = { LIMIT = "4", FAST = "" }
""",
        "p/src/step.c": """\
#include "types.h"
#include "beside.h"
void init(t_st *s) { s->n = BESIDE; }
#ifdef FAST
void compute(_Bool b, t_st *s) { if (b && s->n < LIMIT) s->n = add(s->n); }
#endif
""",
        "p/include/types.h": "typedef struct { int n; } t_st;\nint add(int n);\n",
        "p/beside.h": "#define BESIDE 2\n",
        "shared/add.c": "static int by = 1;\nint add(int n) { return n + by; }\n",
    }
    write_files(tmp_path, files)
    command = ("generate", "p", "--property", "x: cover(n == LIMIT)", "-o", "o", "--json")
    outcome = chaincover(*command, cwd=tmp_path)
    assert outcome.code == 0
    assert outcome.json["bounds"]["length"] == 2
    subject = outcome.json["controller"]
    assert subject["defines"] == {"LIMIT": "4", "FAST": ""}
    assert [source["file"] for source in subject["sources"]] == ["src/step.c", "../shared/add.c"]
    assert (tmp_path / "o" / "chain.csv").read_text().splitlines()[2].startswith("1,0.5,")
    faster = chaincover(*command, "-D", "LIMIT=3", cwd=tmp_path)
    assert faster.json["bounds"]["length"] == 1
    assert faster.json["controller"]["defines"]["LIMIT"] == "3"


def test_headers_named_on_the_command_line(tmp_path: Path) -> None:
    code = '#include "far.h"\n' + program("if (i->b) s->n = FAR;")
    write_files(tmp_path, {"c.c": code, "h/far.h": "#define FAR 7\n"})
    assert chaincover("generate", "c.c", "--property", "cover(n == FAR)", cwd=tmp_path).code == 3
    assert chaincover("generate", "c.c", "-I", "h", "--property", "cover(n == FAR)", cwd=tmp_path).code == 0


@pytest.mark.parametrize(("target", "greatest"), [("lp64", 2**31 - 1), ("ilp32", 2**31 - 1), ("ip16", 2**15 - 1)])
def test_word_sizes(target: str, greatest: int, tmp_path: Path) -> None:
    subject = read(tmp_path, f'[sources]\nfiles = ["c.c"]\ntarget = "{target}"\n')
    assert subject.system.variable("s->n").type.greatest == greatest


# functions


def test_functions_by_name_pattern_and_call(tmp_path: Path) -> None:
    code = """\
typedef struct { int n; } t_st;
static t_st st;
void start(t_st *s, int n) { s->n = n; }
void bump(void) { st.n += 10; }
void tick(_Bool b) { st.n += b; }
void req_1(_Bool b) { tick(b); }
void req_2(_Bool b) { tick(b); }
void other(_Bool b) { tick(b); }
void p_1(_Bool b) { tick(b); }
int done(void) { return st.n == 20; }
int calm(_Bool b) { return b || st.n < 5; }
"""
    toml = project(
        "[functions]\ninit = ['start(&st, 3)', 'bump']\nstep = 'tick'\nproperties = ['req_*', 'other']\n"
        "final = 'done'\nassumption = 'calm'"
    )
    subject = read(tmp_path, toml, code)
    simulator = Simulator(subject.system)
    assert simulator.initial()["st.n"] == 13
    assert [goal.name for goal in subject.goals] == ["req_1", "req_2", "other"]
    assert subject.final_text == "done()"
    assert not simulator.allowed({"st.n": 13}, {"b": 0})
    assert simulator.allowed({"st.n": 4}, {"b": 0})


# interface


def test_roles_by_pattern_tail_and_object(tmp_path: Path) -> None:
    code = """\
typedef struct { int x; int y; } t_part;
typedef struct { t_part in; t_part out; int mode; int trace; } t_all;
int level, lamp[2], spare;
void init(t_all *d) { d->out.x = d->out.y = d->mode = d->trace = 0; }
void compute(t_all *d, int *gauge) {
  d->mode = d->in.x > 0;
  d->out.x = d->mode + level;
  d->trace++;
  lamp[d->mode] = spare;
  *gauge = d->in.y;
}
"""
    toml = project(
        "[interface]\ninput = ['d->in.*', 'level', 'spare']\noutput = ['d->out.*', 'lamp', '*gauge']\n"
        "ignore = ['trace']\nstate = ['mode']"
    )
    assert roles(read(tmp_path, toml, code).system) == {
        "d->in.x": "input",
        "d->in.y": "input",
        "level": "input",
        "spare": "input",
        "d->out.x": "output",
        "d->out.y": "output",
        "d->mode": "state",
        "d->trace": "ignored",
        "*gauge": "output",
        "lamp[0]": "output",
        "lamp[1]": "output",
    }


def test_ignored_variables_do_not_count_for_final_init(tmp_path: Path) -> None:
    """A counter that never comes back keeps a chain from ending like init, unless it is ignored."""
    code = program("s->n = i->b; s->m++; ")
    toml = project("[interface]\nignore = ['s->m']\n[final]\ncondition = 'init'\n[search]\nbound = 4")
    write_files(tmp_path, {"c.c": code + "int sum(t_st *s) { return s->m; }\n", "chaincover.toml": toml})
    goal = ("--property", "x: cover(n == 1)")
    assert chaincover("generate", ".", *goal, cwd=tmp_path).code == 0
    write_files(tmp_path, {"chaincover.toml": toml.replace("ignore", "state")})
    never = (*goal, "--property", "y: cover(m == 1)", "--engine", "sat")
    assert chaincover("generate", ".", *never, cwd=tmp_path).code == 4


@pytest.mark.slow
@short_runs()
def test_chosen_start_values(tmp_path: Path) -> None:
    """What init leaves open must not matter, unless the tester may choose it; then within its range."""
    code = program("if (s->m > 5) s->n = 1;", head=GOOD[: GOOD.index("\nvoid compute")].replace("s->m = 0; ", ""))
    goal = {"properties": ["x: cover(n == 1)"]}
    assert read(tmp_path, project(), code, **goal).system.chosen == ()
    assert chaincover(
        "generate", ".", "--property", "x: cover(n == 1)", "-K", "2", "--effort", "0.05", cwd=tmp_path
    ).code in (3, 4)
    toml = project("[interface]\nchosen = ['m']")
    assert read(tmp_path, toml, code, **goal).system.chosen == ("s->m",)
    outcome = chaincover("generate", ".", "--property", "x: cover(n == 1)", "--effort", "0.05", "--json", cwd=tmp_path)
    assert outcome.code == 0
    assert outcome.json["chain"]["initial"]["chosen"]["s->m"] > 5


# final and search


@pytest.mark.parametrize(
    ("toml", "option", "text"),
    [
        ("condition = 'n == 1'", None, "n == 1"),
        ("condition = 'init'", None, "init"),
        ("condition = 'none'", None, ""),
        ("condition = 'n == 1'", "none", ""),
        ("condition = 'n == 1'", "m == 0", "m == 0"),
        ("", "init", "init"),
        ("", None, ""),
    ],
)
def test_final_condition(toml: str, option: str | None, text: str, tmp_path: Path) -> None:
    subject = read(tmp_path, project(f"[final]\n{toml}"), final=option)
    assert subject.final_text == text
    assert (subject.final is None) == (text == "")


def test_final_none_switches_a_final_function_off(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": program(after="int final(t_st *s) { return s->n == 4; }")})
    project = read_project(str(tmp_path / "c.c"))
    assert load(project).final_text == "final()"
    assert load(project, final="none").final is None


def test_init_as_final_is_about_live_state_only(tmp_path: Path) -> None:
    """``m`` is written, but read by nothing: it need not come back. It shows ``n``."""
    subject = read(tmp_path, project("[final]\ncondition = 'init'"), program(COUNTER + " s->m = s->n > 3;"))
    assert subject.final is not None
    assert [s.symbol_name() for s in subject.final.get_free_variables()] == ["s->n"]


def test_search_keys_and_options(tmp_path: Path) -> None:
    toml = project("[search]\nbound = 2\noverlap = 'forbid'\nordering = 'exact'")
    write_files(tmp_path, {"c.c": GOOD, "chaincover.toml": toml})
    goals = ("--property", "x: cover(n == 3)", "--property", "y: cover(n == 3 && !b)")
    settings = chaincover("generate", ".", *goals, "--engine", "sat", "--json", cwd=tmp_path)
    assert settings.code == 4
    given = settings.json["settings"]
    assert (given["bound"], given["overlap"], given["ordering"]) == (2, "forbid", "exact")
    other = chaincover("generate", ".", *goals, "--json", "-K", "5", "--overlap", "allow", cwd=tmp_path)
    assert other.code == 0
    given = other.json["settings"]
    assert (given["bound"], given["overlap"], given["ordering"]) == (5, "allow", "exact")


# choosing goals


@pytest.mark.parametrize(
    ("select", "exclude", "names"),
    [
        ([], [], ["a1", "a2", "b1"]),
        (["a*"], [], ["a1", "a2"]),
        (["b1", "a2"], [], ["a2", "b1"]),
        ([], ["*1"], ["a2"]),
        (["a*"], ["a1"], ["a2"]),
    ],
)
def test_goals_by_pattern(select: list[str], exclude: list[str], names: list[str], tmp_path: Path) -> None:
    texts = ["a1: cover(n == 1)", "a2: cover(n == 2)", "b1: cover(m == 0)"]
    subject = read(tmp_path, project(), properties=texts, select=select, exclude=exclude)
    assert [goal.name for goal in subject.goals] == names


def test_place_of_an_error_is_told_only_where_it_is_certain(tmp_path: Path) -> None:
    """The wrong name stands twice: the file is named, no line."""
    toml = project("[interface]\nstate = ['s->k']\nchosen = ['s->k']")
    with pytest.raises(InputRefused) as caught:
        read(tmp_path, toml)
    assert str(caught.value.where) == str(tmp_path / "chaincover.toml")


# chaincover init


def test_written_project_file_can_be_used(tmp_path: Path) -> None:
    write_files(tmp_path, {"motor.c": GOOD})
    written = chaincover("init", "motor.c", cwd=tmp_path)
    assert written.code == 0
    assert written.out.endswith("\nwrote chaincover.toml; next: chaincover check chaincover.toml\n")
    text = (tmp_path / "chaincover.toml").read_text()
    assert text.count("#") > 10
    assert '[coverage]\n# criteria = ["transitions(mode)", "branches()", "mcdc()"]' in text
    assert chaincover("check", ".", "--compare", "20", cwd=tmp_path).code == 0
    assert chaincover("generate", ".", *REACH, cwd=tmp_path).code == 0
    assert chaincover("init", "motor.c", cwd=tmp_path).code == 3
    assert (tmp_path / "chaincover.toml").read_text() == text
    assert chaincover("init", "motor.c", "--force", "-o", "chaincover.toml", cwd=tmp_path).code == 0


def test_written_project_file_guesses_other_names(tmp_path: Path) -> None:
    code = "static int n;\nvoid Motor_initialize(void) { n = 1; }\nvoid Motor_step(_Bool on) { if (on) n = 3; }\n"
    write_files(tmp_path, {"motor.c": code})
    assert chaincover("init", "motor.c", "-o", "sub.toml", cwd=tmp_path).code == 0
    config = read_project(str(tmp_path / "sub.toml")).config
    assert (config.init, config.step, config.input) == (("Motor_initialize",), "Motor_step", ("on",))


def test_a_byte_order_mark_before_the_project_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text("int n;\nvoid compute(_Bool b) { n = b; }\n")
    text = b"\xef\xbb\xbf[sources]\nfiles = ['c.c']\n\n[[property]]\ntext = 'cover(n)'\n"
    (tmp_path / "chaincover.toml").write_bytes(text)
    (goal,) = load(read_project(str(tmp_path / "chaincover.toml"))).goals
    assert goal.where is not None
    assert goal.where.line == 5


def test_generated_goals_come_in_one_order_however_the_project_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files come in the order of the project, also where line markers spell their names in another way."""
    orders = []
    for cwd, place in (
        (MODELS.parent, "models/mixer"),
        (MODELS, "mixer"),
        (MODELS, "../models/mixer"),
        (ROOT, MODELS / "mixer"),
    ):
        monkeypatch.chdir(cwd)
        with fresh_names():
            goals = load_request(Request(str(place), cover=("branches()",))).goals
        orders.append([goal.name for goal in goals if goal.name.startswith("branch")])
    assert orders[0][0].startswith("branch:mixer.c")
    assert orders[0][-1].startswith("branch:filter.c")
    assert orders == [orders[0]] * 4


def test_all_that_is_wrong_with_a_project_is_told_at_once(tmp_path: Path) -> None:
    toml = (
        'nmae = "x"\nperiod = -1\n[functions]\nstep = 4\nfinal = "f"\n[final]\ncondition = "x == 1"\n'
        '[search]\noverlap = "maybe"\n[[property]]\nid = 3\n[[property]]\ntext = "cover(x)"\n'
    )
    write_files(tmp_path, {"chaincover.toml": toml})
    told = chaincover("check", ".", "--json", cwd=tmp_path)
    assert told.code == 3
    assert [(each["where"].rpartition(".toml")[2], each["error"]) for each in told.json["errors"]] == [
        ("", "no source file is named"),
        (":1:1", "unknown key 'nmae'"),
        (":2:1", "'period' must be a number above 0"),
        (":4:1", "'step' must be a text in quotes"),
        (":7:1", "both final.condition and functions.final are set"),
        (":9:1", "'overlap' must be one of allow, forbid"),
        (":10", "'id' of a property must be a text in quotes"),
        (":10", "a [[property]] has no text"),
    ]
    rows = told.stderr.splitlines()
    assert rows[rows.index("error: 8 things are wrong:") + 3 :][:2] == [
        "  chaincover.toml:1:1: unknown key 'nmae'",
        "    next: did you mean 'name'?",
    ]
    assert rows[-1] == "  next: correct it there and run the command again"


def test_a_text_without_instructions_is_no_assembly_to_list(tmp_path: Path) -> None:
    with pytest.raises(InputRefused) as caught:
        read(tmp_path, '[sources]\nfiles = ["c.c"]\nassembly = ["nop", " ;"]\n')
    assert "chaincover.toml:3:1: ' ;' in 'assembly' is no instruction" in str(caught.value)
    assert "leave it out" in str(caught.value)
