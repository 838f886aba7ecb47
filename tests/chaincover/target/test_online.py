"""Chains on targets on line: drivers, what deviates, what is lost, the stop that is safe, and the log."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from c_support import own_environment
from command_line import Outcome, chaincover, write_files

from chaincover.target import online

__all__ = ["own_environment"]

COUNTER = """\
typedef struct { unsigned char up, clear; } in_t;
static unsigned char n; static struct { short level; unsigned char lamp; } o;
void init(void) { n = 0; o.level = 0; o.lamp = 0; }
void step(in_t *i) {
  if (i->clear) n = 0; else if (i->up && n < 6) n++;
  o.level = n * 10 - 5; o.lamp = n >= 4;
}
"""
PROJECT = """\
name = "counter"
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["i->*"]
state = ["n"]
output = ["o.*"]
[ranges]
"i->*" = [0, 1]
[final]
condition = "n == 0"
[[property]]
id = "soon"
text = "G(i->clear && o.lamp -> F[0,2](o.lamp == 0))"
"""
INPUTS = "i->up,i->clear\n1,0\n1,0\n1,0\n1,0\n0,1\n0,0\n"
CLASS = """\
class Target:
    def reset(self):
        self.n, self.made = 0, 0
        return {"n": 0, "o.level": 0, "o.lamp": 0}
    def step(self, inputs):
        self.made += 1
        if inputs["i->clear"]: self.n = 0
        elif inputs["i->up"] and self.n < 6: self.n += 1
        return self.answer({"n": self.n, "o.level": self.n * 10 - 5, "o.lamp": int(self.n >= 4)}, inputs)
    def answer(self, found, inputs): return found
"""
SAFE = '[target]\nsafe = [{ "i->up" = 0, "i->clear" = 1 }, { "i->clear" = 0 }]\n'


def run(folder: Path, driver: str, *options: str, own: str = "", target: str = "", **variables: str) -> Outcome:
    module = f"bench_{abs(hash((own, str(folder))))}"
    code = CLASS + ("".join(f"    {line}\n" for line in own.splitlines()))
    write_files(folder, {"c.c": COUNTER, "chaincover.toml": PROJECT + target, "in.csv": INPUTS, f"{module}.py": code})
    spec = driver.replace("CLASS", f"{module}:Target")
    return chaincover("run", ".", "in.csv", "--driver", spec, *options, "--json", cwd=folder, **variables)


def log(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "online.jsonl").read_text().splitlines()]


def test_a_target_that_does_as_the_model(tmp_path: Path) -> None:
    outcome = run(tmp_path, "python:CLASS")
    found = outcome.json
    assert (outcome.code, found["steps"], found["comparison"]["first"]) == (0, 6, None)
    assert [(goal["verdict"], goal["how"], goal["requirement"]) for goal in found["goals"]] == [
        ("covered", "as seen", "held")
    ]
    lines = log(tmp_path)
    assert lines[0]["schema"] == "chaincover/online/1"
    assert [line["step"] for line in lines if "step" in line] == [*range(6)]
    assert lines[-1]["end"] == "the chain has ended"


@pytest.mark.parametrize(
    ("own", "why", "steps"),
    [
        (
            "def answer(self, found, inputs): return {**found, 'o.lamp': int(self.made == 3)}",
            "'o.lamp' before step 3",
            3,
        ),
        ("def answer(self, found, inputs): return {**found, 'o.level': 99999}", "99999 does not fit 'o.level'", 0),
        ("def answer(self, found, inputs): return {**found, 'x': 1}", "answered with 'x', which the program", 0),
        ("def answer(self, found, inputs): return 5", "Target.step returned no dictionary", 0),
        ("def answer(self, found, inputs): raise OSError('unplugged')", "Target.step raised OSError: unplugged", 0),
        ("def answer(self, found, inputs): return {**found, 'i->up': 0}", "the inputs of step 0 were not those", 1),
    ],
)
def test_from_a_fault_on_only_the_safe_inputs_are_applied(own: str, why: str, steps: int, tmp_path: Path) -> None:
    outcome = run(tmp_path, "python:CLASS", own=own, target=SAFE)
    assert why in outcome.json["remarks"][0]
    lines = log(tmp_path)
    assert lines[-1]["steps"] == steps
    after = [line["inputs"] for line in lines if "after_end" in line and "inputs" in line]
    lost = "does not fit" in why or "Target" in why or "answered" in why
    assert after == ([] if "Target" in why else [{"i->up": 0, "i->clear": 1}, {"i->up": 0, "i->clear": 0}])
    assert outcome.code == (5 if lost else 1)


def test_an_object_that_hangs_is_lost_and_called_no_more(tmp_path: Path) -> None:
    """Without the watchdog the run would never end."""
    own = "def answer(self, found, inputs): import threading; self.made == 3 and threading.Event().wait(); return found"
    outcome = run(tmp_path, "python:CLASS", "--watchdog", "0.5", own=own, target=SAFE)
    assert "the target was lost: Target.step gave no answer within 0.5 s" in outcome.json["remarks"][0]
    assert (outcome.code, log(tmp_path)[-1]["steps"]) == (5, 2)


def test_a_target_that_starts_in_another_state_makes_no_step(tmp_path: Path) -> None:
    own = "def reset(self):\n    self.n, self.made = 3, 0\n    return {'n': 3, 'o.lamp': 0}"
    outcome = run(tmp_path, "python:CLASS", own=own, target=SAFE)
    assert "a deviation: 'n' before step 0" in outcome.json["remarks"][0]
    first = outcome.json["comparison"]["first"]
    assert (outcome.code, first["variable"], first["step"], log(tmp_path)[-1]["after"]) == (1, "n", 0, 2)


def test_without_a_fault_nothing_follows_the_chain(tmp_path: Path) -> None:
    run(tmp_path, "python:CLASS", target=SAFE)
    assert not any("after_end" in line for line in log(tmp_path))


def test_when_called_off_the_chain_goes_on_to_its_final_condition(tmp_path: Path) -> None:
    """Called off in the second step: the state there comes again nowhere, so that all of the chain is made."""
    own = "def answer(self, found, inputs):\n    from bmc import ending\n"
    own += "    if self.made == 2: ending.call_off('interrupt')\n    return found"
    outcome = run(tmp_path, "python:CLASS", own=own, target=SAFE)
    lines = log(tmp_path)
    assert outcome.code == 130
    assert lines[-1]["steps"] == 2
    assert [line["inputs"]["i->clear"] for line in lines if "after_end" in line] == [0, 0, 1, 0]


class Clock:
    """Time that passes by what a target does."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_bench_that_is_late_leaves_deadlines_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fifth step takes longer than a period: the sixth begins late, while the deadline runs."""
    clock = Clock()
    monkeypatch.setattr(online, "time", clock)
    monkeypatch.setitem(sys.modules, "the_clock", clock)  # type: ignore[arg-type]
    slow = "def answer(self, found, inputs):\n    import the_clock\n"
    slow += "    the_clock.sleep(0.03 if self.made == 5 else 0.001)\n    return found"
    timed = "[target]\nlateness = 0.005\n"
    project = PROJECT.replace('name = "counter"', 'name = "counter"\nperiod = 0.01')
    module = "late_bench"
    code = CLASS + "".join(f"    {line}\n" for line in slow.splitlines())
    files = {"c.c": COUNTER, "chaincover.toml": project.replace("F[0,2](o.lamp == 0)", "F[2,2](o.lamp == 0)") + timed}
    write_files(tmp_path, {**files, "in.csv": INPUTS, f"{module}.py": code})
    outcome = chaincover("run", ".", "in.csv", "--driver", f"python:{module}:Target", "--json", cwd=tmp_path)
    goal = outcome.json["goals"][0]
    assert (goal["requirement"], goal["why"]) == ("undecided", "the bench was late in step 5")
    assert outcome.json["remarks"] == ["the bench was late in 1 step, by up to 20.0 ms"]
    again = chaincover("judge", ".", "in.csv", "online.jsonl", "--json", cwd=tmp_path)
    assert again.json["goals"][0]["requirement"] == "undecided"


def test_a_driver_that_the_project_names_has_to_be_confirmed(tmp_path: Path) -> None:
    named = '[target]\ndriver = "python:named_bench:Target"\n'
    files = {"c.c": COUNTER, "chaincover.toml": PROJECT + named, "in.csv": INPUTS, "named_bench.py": CLASS}
    write_files(tmp_path, files)
    refused = chaincover("run", ".", "in.csv", cwd=tmp_path)
    assert refused.code == 2
    assert "python:named_bench:Target" in refused.stderr
    assert "is run only when it is confirmed" in refused.stderr
    assert chaincover("run", ".", "in.csv", "--yes", cwd=tmp_path).code == 0


PROGRAM = """\
import json, sys
n = made = 0
for line in sys.stdin:
    asked = json.loads(line)
    if "reset" in asked:
        n = made = 0
        print(json.dumps({"outputs": {"n": 0}}), flush=True)
        continue
    made += 1
    if asked["inputs"]["i->clear"]: n = 0
    elif asked["inputs"]["i->up"] and n < 6: n += 1
    answer = json.dumps({"outputs": {"n": n, "o.level": n * 10 - 5, "o.lamp": n >= 4}})
    FAULT
    print(answer, flush=True)
"""


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("", ""),
        ("if made == 3: sys.exit(7)", "the program has ended with 7"),
        ("if made == 3: answer = 'ready'", "the program answered b'ready'"),
        ("if made == 3: answer = '{}'", "the program answered b'{}'"),
        ("if made == 3: sys.stdin.read()", "no answer within 2 s"),
        ("if made == 3: import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "the program has ended with -9"),
        ("if made == 3: print('x' * 3_000_000, end='', flush=True); sys.stdin.read()", "without an end of its line"),
    ],
)
def test_a_program_on_the_other_side(fault: str, message: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"other.py": PROGRAM.replace("FAULT", fault or "pass")})
    watchdog = "2" if "no answer" in message else "30"
    outcome = run(tmp_path, f"process:{sys.executable} other.py", "--watchdog", watchdog)
    if not message:
        assert (outcome.code, outcome.json["steps"]) == (0, 6)
        return
    assert message in outcome.json["remarks"][0]
    assert (outcome.code, outcome.json["steps"]) == (5, 2)
    assert log(tmp_path)[-1]["end"] == "the target was lost"


@pytest.mark.needs_compiler
def test_a_library_is_run_as_the_compiled_original(tmp_path: Path) -> None:
    write_files(tmp_path, {"b.c": COUNTER.replace("n >= 4", "n >= 3"), "c.c": COUNTER})
    for name in ("b", "c"):
        command = [shutil.which("cc") or "gcc", "-g", "-shared", "-fPIC", "-o", f"{name}.so", f"{name}.c"]
        subprocess.run(command, cwd=tmp_path, check=True)
    assert run(tmp_path, "library:c.so").code == 0
    changed = run(tmp_path, "library:b.so")
    first = changed.json["comparison"]["first"]
    assert (changed.code, first["variable"], first["step"]) == (1, "o.lamp", 3)
    against = chaincover("replay", ".", "in.csv", "--against", "b.so", "--json", cwd=tmp_path)
    assert against.code == 1
    assert against.json["disagreements"][0].startswith("before step 3 'o.lamp' is 1")
    source = chaincover("replay", ".", "in.csv", "--against", "b.c", "--json", cwd=tmp_path)
    assert source.json["disagreements"][0].startswith("before step 3 'o.lamp' is 1")
    assert (
        "name a shared library" in chaincover("run", ".", "in.csv", "--driver", "library:in.csv", cwd=tmp_path).stderr
    )


def test_a_log_is_replayed_as_any_inputs(tmp_path: Path) -> None:
    run(tmp_path, "python:CLASS")
    played = chaincover("replay", ".", "online.jsonl", "--json", "--no-native", cwd=tmp_path)
    assert (played.code, played.json["steps"]) == (0, 6)
    assert [goal["requirement"] for goal in played.json["goals"]] == ["held"]


def test_a_log_of_a_killed_run_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    run(tmp_path, "python:CLASS")
    text = (tmp_path / "online.jsonl").read_text()
    cut = text[: text.index('{"step":4') + 20]
    (tmp_path / "killed.jsonl").write_text(cut)
    found = chaincover("judge", ".", "in.csv", "killed.jsonl", "--json", cwd=tmp_path).json
    assert (found["steps"], found["cut_short"]) == (4, True)
    assert found["remarks"][0] == "the log has no end: the run was killed"
    (tmp_path / "broken.jsonl").write_text(text.replace('{"step":2', '{"step":2}{', 1))
    refused = chaincover("judge", ".", "in.csv", "broken.jsonl", cwd=tmp_path)
    assert refused.code == 3
    assert "broken.jsonl:5: this is no line of a log" in refused.stderr


@pytest.mark.parametrize(
    ("driver", "message"),
    [
        ("nothing:x", "no driver is called 'nothing'"),
        ("python:nowhere:Target", "cannot be made: ModuleNotFoundError"),
        ("python:json", "names no class"),
        ("process:", "no command is named"),
        ("process:no-such-program", "no-such-program cannot be started"),
        ("library:none.so", "there is no library none.so"),
        ("serial:/dev/none", "moves a target, and the project names no safe inputs"),
    ],
)
def test_a_driver_that_cannot_be_made(driver: str, message: str, tmp_path: Path) -> None:
    outcome = run(tmp_path, driver)
    assert outcome.code == 2
    assert message in outcome.stderr
    assert "Traceback" not in outcome.stderr


FIXTURES = """\
def test_all_agree(chain, driver):
    assert [step["i->up"] for step in chain.steps] == [1, 1, 1, 1, 0, 0]
    judged = chain.run(driver)
    assert judged.comparison.first is None, judged.comparison.first
    assert [goal.requirement for goal in judged.goals] == ["held"]
"""


@pytest.mark.parametrize(("code", "told"), [(CLASS, "1 passed"), (CLASS.replace(">= 4", ">= 3"), "1 failed")])
def test_the_fixtures_of_pytest(code: str, told: str, tmp_path: Path) -> None:
    files = {"c.c": COUNTER, "chaincover.toml": PROJECT, "in.csv": INPUTS, "fixed.py": code, "test_x.py": FIXTURES}
    write_files(tmp_path, files)
    named = ["--chaincover-project", ".", "--chaincover-chain", "in.csv", "--chaincover-driver", "python:fixed:Target"]
    plugin = ["-p", "no:cacheprovider", "-p", "chaincover.pytest_plugin"]
    command = [sys.executable, "-m", "pytest", *plugin, *named, "test_x.py"]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False)
    assert told in done.stdout, done.stdout + done.stderr


def test_a_run_that_was_called_off_leaves_no_alarm(tmp_path: Path) -> None:
    """An alarm that comes later would end the process of the tests."""
    own = "def answer(self, found, inputs):\n    from bmc import ending\n"
    own += "    ending.call_off('interrupt')\n    return found"
    assert run(tmp_path, "python:CLASS", own=own).code == 130
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_summary_of_several_chains_is_none(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": COUNTER, "chaincover.toml": PROJECT, "chains.json": "{}", "x.csv": ""})
    for command in (("run", ".", "chains.json"), ("judge", ".", "chains.json", "x.csv")):
        refused = chaincover(*command, cwd=tmp_path)
        assert refused.code == 3
        assert "this is the summary of several chains" in refused.stderr
