"""The comparison with CBMC: the arithmetic of its table, what is read from CBMC's output, and what is refused."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from benchmarks.measures.rivals import run
from benchmarks.measures.rivals.table import Row, above_start, geometric_mean, line, summary
from bmc.errors import CheckDisagreed, UsageError

START = Row("latch", 6, 0.30, 0.25, {"old": 0.10, "new": 0.06})
LONG = Row("alarm", 29, 0.80, 0.60, {"old": 1.10, "new": 1.60})
SHORT = Row("pump", 10, 0.33, 0.30, {"old": 0.15, "new": 0.09})


def test_ratios_are_to_the_faster_version() -> None:
    assert (START.faster, LONG.faster) == ("new", "old")
    assert LONG.ratio == pytest.approx(0.8 / 1.1)
    assert above_start(LONG, START) == pytest.approx((0.80 - 0.30) / (1.10 - 0.10))


def test_what_is_hardly_above_the_start_counts_as_the_least() -> None:
    assert above_start(SHORT, START) == pytest.approx(1.0)
    assert above_start(START, START) is None


def test_a_version_that_ran_out_of_time_has_no_ratio() -> None:
    some = Row("seat", 23, 1.0, 0.9, {"old": None, "new": 4.0})
    none = Row("seat", 23, 1.0, 0.9, {"old": None, "new": None})
    assert (some.faster, some.ratio) == ("new", 0.25)
    assert (none.faster, none.ratio, above_start(none, START)) == (None, None, None)
    assert line(none, START) == "| seat | 23 | 1.00 | 0.90 | > limit | > limit |  |  |"


def test_means_and_the_largest_ratio_that_counts() -> None:
    assert geometric_mean([0.25, 4.0]) == pytest.approx(1.0)
    assert geometric_mean([]) is None
    floats = Row("floats/mode", 10, 2.0, 1.9, {"old": 1.0, "new": 1.1}, floats=True)
    told = "\n".join(summary([START, LONG, SHORT, floats]))
    mean = (0.30 / 0.06 * 0.8 / 1.1 * 0.33 / 0.09) ** (1 / 3)
    assert f"over 3 models: total {mean:.2f}," in told
    assert f"above latch {(0.5 * 1.0) ** 0.5:.2f}." in told
    assert "over 1 models with floating-point numbers: total 2.00, total, again 1.90," in told
    assert "at least 0.6 s: 2.00 (floats/mode)." in told


def test_medians_are_taken_of_runs_that_agree() -> None:
    seconds = {"ours": [0.5, 0.3, 0.4], "ours again": [0.2], "CBMC 1": [1.0, 3.0]}
    lengths = {"ours": {6}, "ours again": {6}, "CBMC 1": {6}}
    row = run.row_of(run.MODELS[0], lengths, seconds, ["CBMC 1", "CBMC 2"])
    assert row == Row("latch", 6, 0.4, 0.2, {"CBMC 1": 2.0, "CBMC 2": None})


@pytest.mark.parametrize("lengths", [{"ours": {6}, "CBMC 1": {5}}, {"CBMC 1": {6}}, {}])
def test_lengths_that_differ_are_an_error(lengths: dict[str, set[int]]) -> None:
    with pytest.raises(CheckDisagreed, match="latch"):
        run.row_of(run.MODELS[0], lengths, {"ours": [1.0], "ours again": [1.0], "CBMC 1": [1.0]}, ["CBMC 1"])


def test_the_length_is_the_first_unwinding_that_fails() -> None:
    loops = (run.LOOP, "compute.0", run.LOOP, "compute.0")
    output = "".join(
        f"Unwinding loop {loop} iteration {n} (60 max) file harness.c\n" for n, loop in enumerate(loops, 1)
    )
    assert run.unwindings(output + "VERIFICATION FAILED\n") == 3
    assert run.unwindings(output + "VERIFICATION SUCCESSFUL\n") is None


def test_every_model_has_a_project() -> None:
    for model in run.MODELS:
        assert (model.folder / "chaincover.toml").is_file()
        assert model.options == (("--final", "none") if model.name == "cruise_fig1" else ())


def test_a_cbmc_that_there_is_not_is_named() -> None:
    done = CliRunner().invoke(run.main, ["latch", "--cbmc", "no-such-cbmc"])
    assert done.exit_code == 1
    assert "no CBMC at 'no-such-cbmc'" in done.output
    assert "--cbmc" in done.output
    with pytest.raises(UsageError, match="no model"):
        run.chosen(["nothing"])
