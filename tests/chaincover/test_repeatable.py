"""The same input gives the same ``chain.json``, byte for byte, in any process, folder and hash order."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_line import MODELS, chaincover, in_process_of_its_own


@pytest.mark.slow
@pytest.mark.parametrize("model", ["window"])
def test_three_processes_write_the_same_bytes(model: str, tmp_path: Path) -> None:
    """One below the model, one beside it by its absolute path, one on a copy elsewhere."""
    project = MODELS / model
    copy = tmp_path / "elsewhere" / model
    shutil.copytree(project, copy)
    runs = [(project, "."), (tmp_path, str(project)), (copy.parent, f"{model}/chaincover.toml")]
    written = []
    for seed, (folder, path) in enumerate(runs):
        target = tmp_path / f"run{seed}"
        options = ("-o", target, "--no-replay", "-q")
        outcome = in_process_of_its_own("generate", path, *options, cwd=folder, PYTHONHASHSEED=str(seed))
        assert outcome.code in (0, 1), outcome
        assert outcome.out == outcome.err == ""
        written.append(((target / "chain.json").read_bytes(), (target / "chain.csv").read_bytes()))
    assert written[0] == written[1] == written[2]
    text = written[0][0].decode()
    assert str(MODELS.parent) not in text, "no folder of this machine is in the file"
    assert str(tmp_path) not in text


@pytest.mark.slow
def test_other_compiler_or_replay_leaves_the_chain_alone(tmp_path: Path) -> None:
    """What a machine has beside Python must not show in ``chain.json``."""
    written = []
    for number, variables in enumerate(({}, {"CHAINCOVER_NO_NATIVE": "1"})):
        target = tmp_path / str(number)
        outcome = in_process_of_its_own("generate", MODELS / "cruise" / "cruise.c", "-o", target, **variables)
        assert outcome.code == 0
        written.append((target / "chain.json").read_bytes())
    assert written[0] == written[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("--effort", "0.005"),
        pytest.param(("--effort", "0.005", "--several"), marks=pytest.mark.evidence),
        pytest.param(("-K", "2"), marks=pytest.mark.evidence),
    ],
)
def test_a_second_run_in_the_same_place_changes_nothing(options: tuple[str, ...], tmp_path: Path) -> None:
    """Whatever the run before has left behind."""
    given = ("generate", MODELS / "cruise", "--engine", "sat", "--no-replay", "-q", "-o", tmp_path, *options)
    written = []
    for _ in range(2):
        assert chaincover(*given).code == 0
        written.append({place.name: place.read_bytes() for place in tmp_path.glob("chain*")})
    assert written[0] == written[1]
    assert written[0]
