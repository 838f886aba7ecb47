"""Times in place of numbers of steps: how they are rounded, what a property with them means, and what is refused."""

from __future__ import annotations

import random
import re
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import chaincover, fresh_names
from drawn_seeds import seeds
from spelled_conditions import SOURCE

from bmc.errors import InputRefused, Location
from bmc.limits import read_toml
from chaincover.project.load import Program
from chaincover.project.project_file import read_project
from chaincover.subject import Subject
from properties.durations import UNITS, Period, Rounding, as_decimal, seconds_text, timed
from properties.goal import Goal

HERE = Location("here")
IN_NANOSECONDS = {"us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
MODES = 'digraph g { a; b; __start0 -> a; a -> b [label="go / x"]; b -> a [label="go / y"]; }\n'


def read(folder: Path, project: str, *properties: str) -> Subject:
    (folder / "c.c").write_text("#define DEADLINE 7\n" + SOURCE)
    (folder / "m.dot").write_text(MODES)
    (folder / "p.toml").write_text(project)
    with fresh_names():
        return Program.of(read_project(str(folder / "p.toml"))).subject(properties)


def project(period: str, more: str = "", file: str = "c.c") -> str:
    return f'{f"period = {period}" if period else ""}\n[sources]\nfiles = ["{file}"]\n{more}\n'


@seeds(100)
def test_a_time_is_rounded_to_the_stricter_side(seed: int) -> None:
    """Against whole nanoseconds: never a step too many within a time, never one too few for a time."""
    drawn = random.Random(seed)
    unit = drawn.choice([*UNITS])
    step = drawn.choice([1, 10**5, 10**8, 10**9 // 3, drawn.randint(1, 10**10)])
    thousandths = drawn.choice([step * drawn.randint(1, 99), drawn.randint(1, 10**7)])
    written = f"{thousandths // 1000}.{thousandths % 1000:03}".rstrip("0").rstrip(".") + drawn.choice(["", " "]) + unit
    seconds = read_toml(f"p = {step // 10**9}.{step % 10**9:09}", HERE)["p"].text
    exact = thousandths * IN_NANOSECONDS[unit]  # thousandths of a nanosecond
    whole, rest = divmod(exact, step * 1000)
    expected = {Rounding.AT_MOST: whole, Rounding.AT_LEAST: whole + (rest > 0)}
    expected |= {Rounding.EXACT: 0 if rest else whole}
    for rounding, number in expected.items():
        if number:
            assert Period(Fraction(seconds)).steps(written, rounding, HERE) == number, (written, seconds, rounding)
        else:
            with pytest.raises(InputRefused, match=r"is 0 steps|is no whole number of steps"):
                Period(Fraction(seconds)).steps(written, rounding, HERE)


ROUNDED = [
    # at a step of 0.1 s; what is written, what is read
    ("cover(F[100ms,250ms](n))", "cover(F[1,2](n))"),
    ("cover(F[110ms,300ms](n))", "cover(F[2,3](n))"),  # 0.3 / 0.1 is less than 3 in floating numbers
    ("cover(G[0,250ms](n))", "cover(G[0,3](n))"),
    ("cover(G[190ms,0.7 s](n))", "cover(G[1,7](n))"),
    ("cover(!F[0,250ms](n))", "cover(!F[0,3](n))"),
    ("cover(!G[110ms,250ms](n))", "cover(!G[2,2](n))"),
    ("cover(!(a && !F[0,250ms](n)))", "cover(!(a && !F[0,2](n)))"),
    ("cover(a || X[1s](F[0,DEADLINE](n) && G[0,0.01min](n)))", "cover(a || X[10](F[0,DEADLINE](n) && G[0,6](n)))"),
    ("cover(!(n since a) && !!F[200000us,250ms](n))", "cover(!(n since a) && !!F[2,2](n))"),
    ("G(a -> X(F[0,1.05s](n)))", "G(a -> X(F[0,10](n)))"),
    ("G(a && G[0,1.1s](n) -> F[110ms,1.05s](n))", "G(a && G[0,11](n) -> F[2,10](n))"),
    ("cover(rise(F[0,300ms](n)) == X[0.2s](n))", "cover(rise(F[0,3](n)) == X[2](n))"),
]


def spelled(goal: Goal, name: str) -> list[str]:
    """All that is asked of a goal called ``name``, as text in which that name is left out."""
    asked = [goal.antecedent, goal.consequent, goal.violated, *(var.next for var in goal.memory)]
    return [str(goal.length), *("" if each is None else each.serialize().replace(f"{name}#", "#") for each in asked)]


def test_a_property_with_times_is_that_with_their_steps(tmp_path: Path) -> None:
    for written, meant in ROUNDED:
        subject = read(tmp_path, project("0.1"), f"p: {written}", f"q: {meant}")
        goal, other = subject.goals
        assert spelled(goal, "p") == spelled(other, "q"), written
        assert all(each.startswith("p: ") for each in subject.times), written
        assert len(subject.times) == len({*re.findall(r"[XFG]\[[^]]*[a-z]\]", written)}), written
        assert goal.text == written


def test_times_of_machines_keys_and_constraints(tmp_path: Path) -> None:
    keys = """
[interface]
hold = "150ms"
[constraints]
dwell = { a = "250ms" }
assume = ["a || X[0.2s](a) || G[0,150ms](a)"]
[search]
bound = "1.09s"
[target]
shift = "290ms"
signals = { n = { name = "N", jitter = "0.1s" } }
"""
    subject = read(tmp_path, project("0.1", keys), "p: G(n -> F[0,1s](n))")
    assert (subject.hold, subject.settings.bound) == (2, 10)
    assert [rule.text for rule in subject.rules][1:] == ["a keeps each value for at least 3 steps"]
    bench = read_project(str(tmp_path / "p.toml")).target
    assert bench is not None
    assert (bench.shift, bench.signals["n"].jitter) == (2, 1)
    assert [*subject.times] == [
        *("dwell of a 250ms is 3 steps", "bound 1.09s is 10 steps", "hold 150ms is 2 steps"),
        *("jitter 0.1s is 1 step", "shift 290ms is 2 steps"),
        *("constraint: X[0.2s] is X[2]", "constraint: G[0,150ms] is G[0,2]", "p: F[0,1s] is F[0,10]"),
    ]
    machine = read(tmp_path, project("0.5", file="m.dot"), "p: cover(state == a && !F[1s,1.2s](state == b))")
    assert machine.times == ("p: F[1s,1.2s] is F[2,3]",)


def test_the_period_is_read_as_it_is_written(tmp_path: Path) -> None:
    """As floating numbers both periods are a third, and a second is three steps."""
    more = '[constraints]\ndwell = { a = "1s" }'
    steps = [
        dict(read_project(str(tmp_path / "p.toml")).config.dwell)["a"]
        for digits in ("3333333333333333333", "33333333333333333334")
        if read(tmp_path, project(f"0.{digits}", more), "cover(n)")
    ]
    assert steps == [4, 3]


REFUSED = [
    ("0.1", "cover(F[0,50ms](n))", "'50ms' is 0 steps: it is shorter than a step of 0.1 s"),
    ("0.1", "cover(G[0s,1s](n))", "'0s' is 0 steps"),
    ("0.1", "cover(G[90ms,1s](n))", "'90ms' is 0 steps"),
    ("0.1", "cover(X[150ms](n))", "'150ms' is no whole number of steps: it lies between 1 and 2 times a step of 0.1 s"),
    ("0.1", "G(a && !G[0,350ms](n) -> a)", "'350ms' is no whole number of steps: it lies between 3 and 4 times a step"),
    ("0.1", "cover(F[0,150ms](n) == a)", "'150ms' is no whole number of steps"),
    ("0.1", "cover(changed(F[0,150ms](n)))", "'150ms' is no whole number of steps"),
    ("0.1", "cover(F[110ms,190ms](n))", "no step lies in F[110ms,190ms]: as numbers of steps these are 2, 1"),
    ("0.1", "cover(F[2s,1s](n))", "no step lies in F[2s,1s]: as numbers of steps these are 20, 10"),
    ("0.1", "cover(F[3,100ms](n))", "no step lies in F[3,100ms]"),
    ("0.1", "cover(F[0,4h](n))", "there are more than 100,000 steps"),
    ("0.1", f"cover(F[0,{'9' * 2000}h](n))", "there are more than 1,000 digits in a number"),
    ("0.1", "cover(n > 5s)", "'5s' is a time, and stands where no number of steps does"),
    ("0.1", "cover(F[0,2*1.5s](n))", "'1.5s' is a time, and stands where no number of steps does"),
    ("0.1", "cover(F[0,1d](n))", "'1d' is no time: the units are us, ms, s, min, h"),
    ("0.1", "cover(F[0,1s](n +))", "cannot read the expression 'F[0,1s](n +)'"),
    ("", "cover(F[0,1s](n))", "'1s' is a time, and the period of a step is not known"),
]


def test_times_that_cannot_be_meant(tmp_path: Path) -> None:
    for period, text, message in REFUSED:
        with pytest.raises(InputRefused) as caught:
            read(tmp_path, project(period), text)
        assert message in caught.value.message, (text, caught.value.message)
        assert "chaincover_" not in f"{caught.value.message} {caught.value.hint}", text
        swapped = "swap the bounds: F[1s,2s](...)"
        assert (caught.value.hint == swapped) == ("[2s,1s]" in text), text
        assert ("set period = SECONDS in the project file" if not period else "") in str(caught.value.hint), text
    for key, message in (
        ('[interface]\nhold = "0s"', "'0s' is 0 steps"),
        ('[interface]\nhold = "2 days"', "'hold' must be a number of steps, or a time such as \"500ms\""),
        ('[constraints]\ndwell = { a = "2h" }', "the dwell time of 'a' must be a number of steps from 1 to"),
        ('[search]\nbound = "x"', "'bound' must be a number of steps, or a time such as \"500ms\""),
    ):
        with pytest.raises(InputRefused) as caught:
            read(tmp_path, project("0.1", key), "cover(n)")
        assert message in str(caught.value), key


def test_check_says_how_many_steps_a_time_is(tmp_path: Path) -> None:
    read(tmp_path, project("0.1"), "cover(n)")
    outcome = chaincover("check", "p.toml", "--property", "p: G(a -> X(F[0,250ms](n)))", cwd=tmp_path)
    assert outcome.code == 0
    assert "times, a step of 0.1 s: p: F[0,250ms] is F[0,2]" in outcome.out
    assert "reachable (with what deadlines, since and dwell times remember), all enumerated" in outcome.out


@pytest.mark.parametrize(
    ("steps", "shown"),
    [(603, "603 steps, 60.3 s"), (1958, "1958 steps, 3 min 15.8 s"), (216600, "216600 steps, 6 h 1 min")],
)
def test_long_times_are_told_in_minutes_and_hours(steps: int, shown: str) -> None:
    assert timed(steps, Fraction(1, 10)) == shown
    assert timed(steps, None) == f"{steps} steps"


def test_decimal_places() -> None:
    numbers = [Fraction(text) for text in ("5", "-1/8", "1e20", "1/1000", "1/3", "0")]
    assert [*map(as_decimal, numbers)] == [*("5", "-0.125", f"1{20 * '0'}", "0.001", "0.3333333333333333", "0")]
    assert seconds_text(Fraction(603, 10)) == "60.3 s"
