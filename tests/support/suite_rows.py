"""Rows of suites that never ran, for tests of what is made of rows: few, those of the paper's table, thousands."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

from benchmarks.bench.row import Row

PAPER = Path(__file__).parents[2] / "benchmarks" / "paper" / "rows.toml"
BASE = {
    "suite": "synthetic", "model": "cruise", "family": "paper", "project": "cruise/cruise.toml",
    "source_sha256": "0" * 64, "goals": 4, "tool": "chaincover", "configuration": "chaincover", "ordering": "",
    "settings": {}, "seed": 0, "status": "finished", "exit_code": 0, "chains": 1, "length": 9, "lower": 9,
    "minimal": True, "covered": 4, "seconds": 0.6, "processor_seconds": 0.5, "log": "log.txt", "files": ("chain.json",),
}  # fmt: skip


def row(**given: Any) -> Row:
    """A row that covers all of four goals with a proved minimum, but for what is given."""
    settings = {**BASE, **given}
    settings.setdefault("id", f"{settings['model']}-{settings['configuration']}-{settings['seed']}".replace(" ", "_"))
    return Row(**settings)


def stopped(**given: Any) -> Row:
    """A row of a run that found nothing within its time."""
    nothing = {"status": "time-out", "chains": None, "length": None, "lower": None, "minimal": False, "covered": 0}
    return row(**{**nothing, "exit_code": None, "processor_seconds": 119.0, "seconds": 120.0, **given})


def synthetic(number: int, configurations: int = 10) -> list[Row]:
    """Rows of many models: some not solved, each configuration as slow as it is late."""
    draw = random.Random(1)
    rows = []
    for order in range(number):
        model, configuration = divmod(order, configurations)
        nothing = draw.random() < 0.1
        found = {} if nothing else {"length": 9 + model, "covered": 20}
        run, seconds = f"{order:012x}", 10 ** draw.uniform(-2, 2) * (configuration + 1)
        rows.append(
            (stopped if nothing else row)(
                id=run, model=f"model {model}", family=f"family {model % 20}", goals=20, **found,
                configuration=f"configuration {configuration}", processor_seconds=seconds, host=f"host-{order % 7}",
                verdicts={f"p{goal}": "covered" for goal in range(20)}, log=f"runs/{run}/log.txt",
            )
        )  # fmt: skip
    return rows


def of_paper() -> list[Row]:
    """The paper's 18 rows in six configurations, with what they print."""
    draw = random.Random(2)
    rows = []
    for entry in tomllib.loads(PAPER.read_text())["row"]:
        goals, printed = entry["properties"], entry["printed"]
        same = {
            "model": entry["name"], "goals": goals, "covered": goals, "bits": tuple(entry["bits"]), "printed": printed,
            "project": entry["project"], "states": draw.randint(8, 4000), "long_goals": goals // 3, "host": "bench-1",
            "versions": {"chaincover": "0.1.0", "python": "3.13.1"},
        }  # fmt: skip
        length, gap = entry["length"], 6 if entry["name"] == "Robotarm 3" else 0
        best = {"chains": entry["chains"], "length": length, "lower": length - gap}
        rows.append(
            row(**same, **best, minimal=best["lower"] == length, processor_seconds=goals * draw.uniform(0.1, 1))
        )
        for ordering in ("tsp", "asp-bb", "exact"):
            given = {**same, "configuration": "compare", "ordering": ordering}
            if ordering == "asp-bb" and goals > 12:
                rows.append(stopped(**{**given, "covered": 0}))
                continue
            longer = {**best, "length": length + draw.randint(0, 9), "minimal": False}
            rows.append(row(**given, **longer, processor_seconds=goals * draw.uniform(0.2, 2)))
        part = goals - (entry["name"].startswith("Window Ext") and goals // 2)
        for seed in range(5):
            drawn = {
                "seed": seed,
                "chains": draw.randint(1, 4),
                "length": length * 2 + seed,
                "lower": None,
                "minimal": False,
            }
            given = {**same, **drawn, "tool": "random_runs", "configuration": "random", "covered": part}
            rows.append(row(**given, undecided=goals - part, processor_seconds=draw.uniform(0.05, 60)))
        absent = {
            "tool": "cbmc", "configuration": "CBMC 6.6 mode=per-goal", "covered": 0, "status": "missing", "files": (),
            "log": "",
        }  # fmt: skip
        rows.append(stopped(**{**same, **absent, "seconds": 0.0, "processor_seconds": 0.0}))
    return rows


EVIL = """</script><script>alert(1)</script><!-- "'&amp;{{data}} <b onclick='x'> ]]> \x00\x1b\ud800 \u2028"""


def of_one_text(text: str) -> Row:
    """A row that has this text wherever a row has one."""
    names = ["suite", "model", "family", "project", "tool", "configuration", "ordering", "status", "replay", "note"]
    texts = dict.fromkeys([*names, "deviates", "host", "log", "source_sha256", "id"], text)
    maps = {name: {text: text} for name in ("settings", "verdicts", "versions", "printed")}
    return row(**texts, **maps, stages={text: 1.0}, bits=(text, text), files=(text,))
