"""Results are read as JSON is, however long they are; lists of steps stay text until an item is asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from command_line import chaincover, write_files
from hypothesis import given, settings
from hypothesis import strategies as st

from bmc import footprint
from bmc.errors import InputRefused, Location
from bmc.limits import FILE_SIZE, read_json
from chaincover.formats.result_file import read_result, result_data

HERE = Location("chain.json")
KEYS = st.sampled_from(["chain", "goals", "test", "verdicts", "steps", "inputs", "other", "a\u00e9"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
DATA = st.recursive(SCALARS, lambda data: st.one_of(st.lists(data), st.dictionaries(KEYS, data)), max_leaves=12)


def plain(data: Any) -> Any:
    """``data`` with lists in place of what is read item by item."""
    if isinstance(data, dict):
        return {key: plain(value) for key, value in data.items()}
    return [plain(item) for item in data] if isinstance(data, Sequence) and not isinstance(data, str) else data


@settings(max_examples=12, deadline=None, derandomize=True)
@given(DATA, st.sampled_from([None, 1]))
def test_it_is_the_data_of_the_standard_library(data: Any, indent: int | None) -> None:
    assert plain(result_data(json.dumps(data, indent=indent), HERE)) == data


@settings(max_examples=60, deadline=None, derandomize=True)
@given(DATA, st.data())
def test_what_is_no_json_is_refused_where_read_json_refuses_it(data: Any, draw: st.DataObject) -> None:
    text = json.dumps({"chain": {"steps": [data, {"steps": data}]}, "goals": [data]}, indent=1)
    place = draw.draw(st.integers(0, len(text) - 1))
    broken = (
        text[:place] + draw.draw(st.sampled_from(["", ",", "]", "}", '"', ":", "0", "[", "NaN"])) + text[place + 1 :]
    )
    said = []
    for read in (read_json, result_data):
        try:
            said.append(plain(read(broken, HERE)))
        except InputRefused as error:
            said.append(error.where)
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"chain": {"steps": [{"a": 1, "a": 2}]}}', 'the key "a" stands twice'),
        ('{"chain": {"steps": [], "steps": []}}', 'the key "steps" stands twice'),
        ('{"chain": {"steps": [{"a": 1e999}]}}', "no finite number"),
        ('{"chain": {"steps": [{"a": "\\u0000"}]}}', "the character NUL"),
        ('{"chain": {"steps": [{"a": 1%s}]}}' % ("0" * 2_000), "digits in a number"),
        ('{"chain": {"steps": [%s]}}' % ("[" * 150 + "]" * 150), "lists and tables one within the other"),
        ('{"chain": ' * 5_000 + "1" + "}" * 5_000, "lists and tables one within the other"),
    ],
)
def test_what_no_input_may_have_no_step_may_have(text: str, what: str) -> None:
    for read in (read_json, result_data):
        with pytest.raises(InputRefused, match=what):
            read(text, HERE)


def test_a_step_is_read_when_it_is_asked_for() -> None:
    steps = result_data('{"chain": {"steps": [{"n": 1}, {"n": 2}, {"n": 3}]}}', HERE)["chain"]["steps"]
    assert [step["n"] for step in steps] == [1, 2, 3]
    assert (len(steps), steps[-1], [*steps[1:]]) == (3, {"n": 3}, [{"n": 2}, {"n": 3}])
    assert steps[0] is not steps[0]


COUNTS = """\
typedef struct { int n; } t_st;
void init(t_st *s) { s->n = 0; }
void compute(_Bool a, t_st *s) { s->n = (s->n + a) % 4; }
"""


def test_a_result_larger_than_any_other_input_is_read(tmp_path: Path) -> None:
    """A chain of 230,002 steps was written, and then refused: more than 67,108,864 bytes in this file."""
    write_files(tmp_path, {"c.c": COUNTS})
    goal = ("--property", "g: cover(n == 3)")
    assert chaincover("generate", "c.c", *goal, "-o", "o", "--no-native", cwd=tmp_path).code == 0
    before = [chaincover(command, "c.c", "o", "--no-native", cwd=tmp_path) for command in ("replay", "verify")]
    for name in ("chain.json", "chain.csv"):
        with open(tmp_path / "o" / name, "a", encoding="utf-8") as file:
            file.write("\n" * (FILE_SIZE.most + 1))
    for command, earlier in zip(("replay", "verify"), before, strict=True):
        now = chaincover(command, "c.c", "o", "--no-native", cwd=tmp_path)
        assert (now.code, now.out) == (earlier.code, earlier.out)
    for file in (tmp_path / "o").iterdir():
        file.unlink()


def test_a_file_that_memory_cannot_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footprint, "allowed", lambda: 100)
    (tmp_path / "chain.json").write_text(json.dumps({"chain": None, "more": "x" * 60}))
    with pytest.raises(InputRefused, match="more than 50 bytes in this result") as refused:
        read_result(tmp_path / "chain.json", "the chain")
    assert "memory" in refused.value.hint
