"""The figures of ``python -m benchmarks house`` on a tree small enough to count by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.measures.house import measure

FILES = {
    "bmc/__init__.py": '"""Only words."""\n',
    "bmc/room/__init__.py": "from bmc.room import plugin\n",
    "bmc/room/plugin.py": '"""Its one importer is the register of its room."""\nVALUE = 1\n',
    "bmc/room/lonely.py": "def wide(a, b, c, *, d, e, f):\n    return a\n",
    "bmc/room/large.py": "class Record:\n" + "".join(f"    field{n}: int = 0\n" for n in range(13)),
    "properties/__init__.py": "",
    "properties/long.py": "X = 1\n" * 100,
    "chaincover/__init__.py": "from bmc.room.lonely import wide\n",
    "chaincover/top.py": (
        "import click\nimport properties.long\nfrom bmc.room import large\n\n\n"
        '@click.command()\ndef many(a, b, c, d, e, f):\n    """Has what the command line has."""\n\n\n'
        "class Five:\n    def __init__(self, a, b, c, d, e):\n        self.a, self.b = a, b\n"
    ),
    "chaincover/verification/__init__.py": "y = 1\n",
    "chaincover/search.py": (
        "MOST, LEAST = 2 * 3, -1.5\nNAMES = 'a', 'b'\nSIZES: dict[str, int] = {'a': 1}\nCALLED = len('abc')\n\n\n"
        "class GoalWatch:\n    def many(self, goals, a):\n"
        + "        if a and not goals:\n            return [g for g in goals if g]\n" * 4
        + "        return goals[a].length + a.length\n"
    ),
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_each_figure_is_what_one_counts_by_hand(checkout: Path) -> None:
    house = measure(checkout)
    # room 1, plugin 1, lonely 2, large 14, long 100, the face 1, top 3 imports, 1 command, 3 of the class, verify 1,
    # search 4, and 11 of its class
    assert house.statements == 142
    assert house.judged_statements == 140
    assert house.verify_statements == 1
    assert house.modules == 9
    assert house.long_signatures == ["bmc.room.lonely:1 wide (6 parameters)"]
    assert house.large_classes == ["bmc.room.large:1 Record (13 attributes)"]
    assert house.small_modules == [
        "bmc.room.large (14 lines), imported by chaincover.top",
        "bmc.room.lonely (2 lines), imported by chaincover.__init__",
    ]
    assert house.constants == [
        "bmc.room.plugin:2 VALUE",
        *(f"properties.long:{line} X" for line in range(1, 101)),
        "chaincover.search:1 MOST, LEAST",
        "chaincover.search:3 SIZES",
    ]
    # one, and for each of the four lines: if, and, for, if
    assert house.complex_functions == ["chaincover.search:8 many (complexity 17)"]
    assert house.most_complex_functions == []
    assert house.goal_lengths == ["chaincover.search:17 goals[a].length"]
    assert house.monitors == ["chaincover.search:7 GoalWatch"]
    assert house.long_modules == []


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no folder bmc"):
        measure(tmp_path)
