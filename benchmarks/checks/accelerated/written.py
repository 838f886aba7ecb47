"""C controllers with counters, drawn at random, through the whole of ``generate``, all stages in turns, and ``verify``.

Where the stage *accelerate* works alone nothing comes between its questions. Here other stages list states, rule goals
out and find chains meanwhile. Many goals cannot be covered, so that often all that read a counter are ruled out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.process import run

ENDINGS = (0, 4, 5)
"""Exit codes of ``generate`` for a controller that is fine: covered, not all can be covered, undecided."""


@dataclass(frozen=True)
class Written:
    """How both commands ended for one controller, and whether its chain is proved minimal (None: there is none)."""

    seed: int
    generate: int
    verify: int
    minimal: bool | None

    @property
    def sound(self) -> bool:
        """Whether both ended as they should."""
        return self.generate in ENDINGS and self.verify == 0


def outcomes(seeds: range, folder: Path) -> Iterator[Written]:
    """Each controller, one after the other, in folders of their own in ``folder``."""
    for seed in seeds:
        project = write(seed, folder / str(seed))
        made = run([sys.executable, "-m", "chaincover", "generate", str(project), "-q", "-o", str(project / "out")])
        checked = run([sys.executable, "-m", "chaincover", "verify", str(project), str(project / "out"), "-q"])
        yield Written(seed, made.code, checked.code, minimal(project / "out" / "chain.json"))


def minimal(file: Path) -> bool | None:
    """Whether the chain of a chain.json is proved minimal; None without one."""
    if not file.exists():
        return None
    data = json.loads(file.read_text(encoding="utf-8"))
    return bool(data["bounds"]["minimal"]) if data["chain"] else None


def write(seed: int, folder: Path) -> Path:
    """The project of a seed, in ``folder``; that folder."""
    drawn = _Drawn(Random(seed))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "m.c").write_text(drawn.program, encoding="utf-8")
    (folder / "chaincover.toml").write_text(drawn.project, encoding="utf-8")
    return folder


class _Drawn:
    """A mode, and a counter or two that the modes move; the text of the program and of its project."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._most = random.choice([20, 240, 500, 700])
        kinds = ["unsigned short", "short", "unsigned int", "int"] + ["unsigned char"] * (self._most < 250)
        kind = random.choice(kinds)
        self._counters = ["t", "u"][: random.choice([1, 1, 2])]
        self._modes = random.randint(1, 3)
        cases = "".join(f"  case {mode}:\n{self._case()}" for mode in range(self._modes))
        begin = "".join(f"{name} = 0; " for name in self._counters)
        self.program = (
            f"{kind} {', '.join(self._counters)};\nunsigned char mode, go, way;\n"
            f"void init(void) {{ {begin}mode = 0; }}\n"
            f"void step(void) {{\n  if (go > 2 && way > 2) mode = 0;\n  switch (mode) {{\n{cases}  }}\n}}\n"
        )
        state = [*self._counters, "mode"]
        lines = ['name = "drawn"', "[sources]", 'files = ["m.c"]', "[functions]", 'init = ["init"]', 'step = "step"']
        lines += ["properties = []", "[interface]", 'input = ["go", "way"]', f"state = {json.dumps(state)}", "[ranges]"]
        lines += ["go = [0, 1]", "way = [0, 1, 2]"]
        if random.random() < 0.5:
            lines += ["[final]", f'condition = "{self._seen()}"']
        self._lost = random.random() < 0.3
        for number in range(random.randint(1, 4)):
            lines += ["[[property]]", f'id = "g{number}"', f'text = "cover({self._goal()})"']
        self.project = "\n".join(lines) + "\n"

    def _value(self) -> int:
        most = self._most
        return self._random.choice([0, 1, most // 2, most - 1, most, self._random.randint(0, most + 1)])

    def _case(self) -> str:
        """What is done in a mode: it may be left, with a counter set anew, else a counter is moved."""
        random, name = self._random, self._random.choice(self._counters)
        left = random.choice(["go", f"go && {name} >= {self._value()}", f"{name} == {self._value()}"])
        anew = random.choice(["", f"{name} = 0; ", f"{name} = {self._value()}; "])
        after = random.randrange(self._modes)
        return f"    if ({left}) {{ {anew}mode = {after}; break; }}\n    {self._move(name)}\n    break;\n"

    def _move(self, name: str) -> str:
        most, other = self._most, next((each for each in self._counters if each != name), name)
        ways = [
            f"if ({name} < {most}) {name}++;",
            f"if ({name} < {most}) {name}++; else {name} = 0;",
            f"if ({name} > 0) {name}--; else {name} = {most};",
            f"if (way == 1 && {name} < {most}) {name}++; else if (way == 2 && {name} > 0) {name}--;",
            f"{name} = {name} + way > {most} ? {most} : {name} + way;",
        ]
        if other != name:
            ways.append(f"if ({name} >= 4) {{ {name} = 0; if ({other} < {most}) {other}++; }} else {name}++;")
            ways.append(f"if ({other} >= {self._value()} && {name} < {most}) {name}++;")
        return self._random.choice(ways)

    def _seen(self) -> str:
        name, mode = self._random.choice(self._counters), self._random.randrange(self._modes)
        relation = self._random.choice(["==", ">=", "<"])
        return self._random.choice([f"mode == {mode}", f"{name} {relation} {self._value()}"])

    def _goal(self) -> str:
        """Of one step or two; where all are ``lost``, of two values that mostly do not follow each other."""
        here, following = self._seen(), self._seen()
        given = self._random.choice(["go", "!go", "way == 2"])
        jump = f"{self._counters[0]} == {self._value()} && X({self._counters[0]} == {self._value()})"
        goals = [here, f"{here} && {given}", f"{here} && X({following})", here, jump]
        return jump if self._lost else self._random.choice(goals)
