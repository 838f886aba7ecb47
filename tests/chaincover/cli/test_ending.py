"""When a run that is called off is interrupted, and when it is not."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from math import inf
from types import FrameType, SimpleNamespace

import pytest
from command_line import chaincover

from bmc import ending
from bmc.errors import InputRefused, LimitReached
from chaincover.cli import entry, main


@pytest.fixture(autouse=True)
def _begun() -> Iterator[None]:
    """Alarms of this process are taken back, whatever a test has called off."""
    entry.never_interrupt()
    yield
    entry.never_interrupt()


class Now:
    """A clock that is set by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 1000.0
        monkeypatch.setattr("time.monotonic", lambda: self.seconds)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Now:
    return Now(monkeypatch)


def alarm() -> None:
    """An alarm comes here."""
    entry._look(signal.SIGALRM, sys._getframe(1))


def raises(action: Callable[[], None]) -> str:
    """What ``action`` raises, with its reason; '' for nothing."""
    try:
        action()
    except (KeyboardInterrupt, ending.CutShort) as error:
        return f"{type(error).__name__} {error}".strip()
    return ""


def test_a_look_hears_of_the_first_reason() -> None:
    assert raises(ending.check) == ""
    ending.call_off("time limit")
    ending.call_off("interrupt")
    assert raises(ending.check) == "KeyboardInterrupt time limit"
    with ending.uninterrupted():
        assert raises(ending.check) == ""
        with ending.interruptible():
            assert raises(ending.check) == "KeyboardInterrupt time limit"
    ending.close()
    assert raises(ending.check) == ""


def test_what_does_not_look_is_interrupted_after_a_while_but_not_where_it_makes_a_result(now: Now) -> None:
    entry._alarms.limit = now.seconds
    assert raises(alarm) == ""
    now.seconds += ending.PATIENCE
    with ending.uninterrupted():
        assert raises(alarm) == ""
    assert raises(alarm) == "KeyboardInterrupt time limit"
    ending.close()
    assert raises(alarm) == ""


def test_what_only_waits_is_interrupted_at_once(now: Now) -> None:
    entry._alarms.limit = now.seconds
    with ending.interruptible(0.0):
        assert raises(alarm) == "KeyboardInterrupt time limit"


@pytest.mark.parametrize("error", [KeyboardInterrupt("time limit"), LimitReached("over"), GeneratorExit()])
def test_nothing_interrupts_what_an_earlier_end_takes_apart(error: BaseException, now: Now) -> None:
    ending.call_off("time limit")
    now.seconds += 1
    taken_apart: list[bool] = []

    def ends() -> None:
        try:
            raise error
        finally:
            alarm()
            taken_apart.append(True)

    with pytest.raises(type(error)) as raised:
        ends()
    assert (raised.value, taken_apart) == (error, [True])


def test_an_alarm_of_another_clock_calls_nothing_off(now: Now) -> None:
    entry._alarms.limit = now.seconds + 1
    alarm()
    assert ending.called_off() == ""


def signalled(now: Now, after: float, frame: FrameType | None = None) -> Callable[[], None]:
    def send() -> None:
        now.seconds += after
        entry.interrupted(signal.SIGTERM, frame)

    return send


def test_only_a_second_signal_cuts_what_tells_the_result_and_one_that_is_sent_twice_is_one(now: Now) -> None:
    entry.closing()
    assert raises(signalled(now, 0)) == ""
    assert raises(signalled(now, entry.TOGETHER / 2)) == ""
    assert entry.signalled() == 143
    with ending.whole():
        assert raises(signalled(now, entry.TOGETHER)) == ""
    assert raises(alarm) == "CutShort"


def test_what_tells_the_result_of_a_run_that_was_called_off_has_its_time(now: Now) -> None:
    entry.closing("time limit")
    now.seconds += entry.CLOSING - 0.1
    assert raises(alarm) == ""
    now.seconds += 0.2
    assert raises(alarm) == "CutShort"


def test_a_chain_that_was_found_is_told_however_long_it_takes_but_for_a_second_signal(now: Now) -> None:
    """A chain of 800,002 steps, proved minimal, was neither written nor told."""
    entry.closing("time limit", bounded=False)
    now.seconds += 10 * entry.CLOSING
    assert raises(alarm) == ""
    assert raises(signalled(now, 0)) == ""
    now.seconds += 10 * entry.CLOSING
    assert raises(alarm) == ""
    assert raises(signalled(now, 0)) == "CutShort"


@pytest.mark.parametrize(("making", "left"), [(0.4, 0.6), (0.9, 0.5)])
def test_that_time_begins_when_the_run_is_called_off_and_half_of_it_is_left_in_any_case(
    making: float, left: float, now: Now
) -> None:
    ending.call_off("time limit")
    now.seconds += making * entry.CLOSING
    entry.closing("time limit")
    now.seconds += left * entry.CLOSING - 0.1
    assert raises(alarm) == ""
    now.seconds += 0.2
    assert raises(alarm) == "CutShort"


def test_the_replay_of_a_run_that_was_called_off_has_its_own_time(now: Now) -> None:
    entry.closing("time limit")
    with ending.interruptible(5.0):
        now.seconds += 4
        assert raises(alarm) == ""
        now.seconds += 2
        assert raises(alarm) == "KeyboardInterrupt time limit"


def test_what_was_read_when_the_run_ended_is_told_as_it_was_then() -> None:
    names = ["first"]
    ending.reads(lambda: names[-1])
    names.append("second")
    ending.call_off("time limit")
    assert raises(ending.check) == "KeyboardInterrupt time limit"
    names.append("third")
    assert ending.reading() == "second"


@pytest.mark.parametrize("half_made", [True, False])
def test_the_destructor_of_what_was_half_made_when_the_run_was_called_off_is_not_heard(half_made: bool) -> None:
    told: list[str] = []
    tell = entry.not_lost(lambda lost: told.append(lost.exc_type.__name__))
    for error in (AttributeError, OSError, KeyboardInterrupt):
        if half_made:
            ending.call_off("time limit")
        tell(SimpleNamespace(exc_type=error))
    assert told == (["OSError"] if half_made else ["AttributeError", "OSError"])


@pytest.mark.parametrize("comes", [True, False])
def test_what_a_library_makes_of_an_interrupt_is_one(comes: bool, now: Now) -> None:
    """numpy raises TypeError where an alarm interrupts it as it finds a common type."""

    def library() -> None:
        try:
            for _ in range(2 * comes):
                now.seconds += 1000
                alarm()
        finally:
            raise TypeError("no common type")

    entry.interrupt_after(10)
    error, text = (KeyboardInterrupt, "time limit") if comes else (TypeError, "no common type")
    with pytest.raises(error, match=text), ending.interruptible():
        library()


def test_an_error_is_told_once_though_an_alarm_comes_while_it_is_told(
    now: Now, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else the limit would be told after it, and stdout hold two JSON documents."""

    def refused(**options: object) -> None:
        entry._alarms.limit = now.seconds
        assert raises(alarm) == ""
        now.seconds += ending.PATIENCE
        raise InputRefused("it is broken", hint="mend it")

    def echo(text: str, **options: object) -> None:
        print(text, file=sys.stderr if options.get("err") else sys.stdout)
        alarm()

    monkeypatch.setattr(sys, "argv", ["chaincover", "replay", "--json"])
    monkeypatch.setattr(main.cli, "main", refused)
    monkeypatch.setattr(main.click, "echo", echo)
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert json.loads(capsys.readouterr().out)["error"] == "it is broken"
    assert ended.value.code == InputRefused.exit_code


def test_the_limit_of_a_command_that_is_wrong_ends_no_later_run() -> None:
    assert chaincover("generate", "c.c", "--time-limit", "0.001", "--no-such-option").code == 2
    assert ending.end() == inf
