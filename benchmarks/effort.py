"""How well the units of work fit this machine: ``python -m benchmarks.effort [MODEL ...] [--effort N]``.

Each bundled model is searched with the same effort. A row has the seconds of the processor that the search took, the
units of work that it counted, how many seconds a unit took, and the two stages that took most of the time. A unit is
meant to take about a second: where it does not, the constants of the stage in front are to be measured anew.
"""

from __future__ import annotations

import time
from pathlib import Path

import click

from chaincover.limits import UNITS
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.project.load import Request, load_request

MODELS = Path(__file__).parent / "models"
CRITERIA = ("mcdc()",)


@click.command()
@click.argument("models", nargs=-1)
@click.option("--effort", default=0.5, show_default=True, help="Effort of each search.")
@click.option("--engine", default="auto", show_default=True, help="Engine of each search.")
def main(models: tuple[str, ...], effort: float, engine: str) -> None:
    """Compare units of work with seconds of the processor."""
    click.echo(f"{'model':14}{'seconds':>9}{'units':>9}{'s / unit':>10}  stages")
    for folder in sorted(path.parent for path in MODELS.glob("*/chaincover.toml")):
        if models and folder.name not in models:
            continue
        problem = load_request(Request(str(folder), cover=CRITERIA)).problem
        begun = time.process_time()
        answered = generate(problem, Options(effort=effort, engine=engine)).answered
        seconds, units = time.process_time() - begun, answered.effort
        costly = sorted(answered.profile, key=lambda stage: -stage.seconds)[:2]
        stages = ", ".join(f"{stage.stage} {stage.seconds:.1f}" for stage in costly)
        ratio = f"{seconds / units:10.2f}" if units >= 1 else f"{'-':>10}"
        click.echo(f"{folder.name:14}{seconds:9.1f}{units:9.1f}{ratio}  {stages} (of {effort * UNITS:g} units)")


if __name__ == "__main__":
    main()
