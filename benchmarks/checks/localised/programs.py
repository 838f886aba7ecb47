"""C programs of two or three tasks that listen to each other, each with a mode and a counter of 5 bits at most."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

TYPES = ("unsigned char", "signed char")
"""Of counters: with wider ones a variable that may have any value makes too many states."""

INIT = "init"


def write(seed: int, folder: Path) -> Path:
    """The project of a seed, in ``folder``; that folder."""
    drawn = _Drawn(Random(seed))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tasks.c").write_text(drawn.program, encoding="utf-8")
    (folder / "chaincover.toml").write_text(drawn.project, encoding="utf-8")
    return folder


class _Drawn:
    """The text of a program and of its project."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._count = random.choice([2, 2, 3])
        most = [2, 3, 5, 9] if self._count == 3 else [3, 7, 12, 31]
        self._most = [random.choice(most) for _ in range(self._count)]
        self._modes = [random.randint(1, 3) for _ in range(self._count)]
        self._edge = random.random() < 0.3
        self.program = self._program()
        self.project = self._project()

    def _program(self) -> str:
        lines = ["static const unsigned char times[4] = {3, 1, 4, 2};"]
        for task in range(self._count):
            lines.append(f"static unsigned char m{task}; static {self._random.choice(TYPES)} c{task};")
        lines += ["static unsigned char old;"] * self._edge
        begin = " ".join(f"m{task} = 0; c{task} = 0;" for task in range(self._count))
        lines.append(f"void {INIT}(void) {{ {begin} {'old = 0;' * self._edge} }}")
        lines += [self._task(task) for task in range(self._count)]
        order = self._random.sample(range(self._count), self._count)
        calls = " ".join(f"task{task}(go, way);" for task in order)
        lines.append(f"void step(unsigned char go, unsigned char way) {{ {calls} {'old = go;' * self._edge} }}")
        return "\n".join(lines) + "\n"

    def _task(self, task: int) -> str:
        cases = ""
        for mode in range(self._modes[task]):
            anew = self._random.choice(["", f" c{task} = 0;", f" c{task} = {self._value(task)};"])
            after = self._random.randrange(self._modes[task])
            leaves = f"if ({self._condition(task)}) {{{anew} m{task} = {after}; break; }}"
            cases += f"  case {mode}: {leaves}\n    {self._move(task)} break;\n"
        head = f"static void task{task}(unsigned char go, unsigned char way) {{"
        return f"{head}\n  switch (m{task}) {{\n{cases}  default: c{task} = c{self._other(task)} + go + way;\n  }}\n}}"

    def _other(self, task: int) -> int:
        return self._random.choice([each for each in range(self._count) if each != task])

    def _value(self, task: int) -> int:
        most = self._most[task]
        return self._random.choice([0, 1, most // 2, most - 1, most, self._random.randint(0, most)])

    def _condition(self, task: int) -> str:
        """Whether a task leaves a mode: by an input, by its own counter, or by what another task does."""
        other = self._other(task)
        edge = ["go && !old"] if self._edge else []
        return self._random.choice(
            [
                "go",
                *edge,
                f"go && c{task} >= {self._value(task)}",
                f"c{task} == {self._value(task)}",
                f"m{other} == {self._random.randrange(self._modes[other])} && way == 2",
                f"c{other} == {self._value(other)}",
                f"c{other} < c{task}",
            ]
        )

    def _move(self, task: int) -> str:
        """What happens to the counter of a task, which stays between 0 and its greatest value."""
        own, most, other = f"c{task}", self._most[task], f"c{self._other(task)}"
        return self._random.choice(
            [
                f"if ({own} < {most}) {own}++;",
                f"if ({own} < {most}) {own}++; else {own} = 0;",
                f"{own} = {own} > 0 ? {own} - 1 : {most};",
                f"if (way == 1 && {own} < {most}) {own}++; else if (way == 2 && {own} > 0) {own}--;",
                f"{own} = {own} + way > {most} ? {most} : {own} + way;",
                f"if ({other} >= {own} && {own} < {most}) {own}++;",
                f"{own} = {other} < {most} ? {other} : {most};",
                f"if ({own} < {most} - times[{other} & 3]) {own} += times[{other} & 3]; else {own} = 0;",
                f"{own} = {most} / {other};",  # undefined where the other one is 0: no chain goes there
            ]
        )

    def _project(self) -> str:
        names = [f"{kind}{task}" for task in range(self._count) for kind in "mc"] + ["old"] * self._edge
        lines = ['name = "tasks"', "[sources]", 'files = ["tasks.c"]', "[functions]", f'init = ["{INIT}"]']
        lines += ['step = "step"', "properties = []", "[interface]", 'input = ["go", "way"]']
        lines += [f"state = {json.dumps(names)}", "[ranges]", "go = [0, 1]", "way = [0, 1, 2]"]
        if self._random.random() < 0.25:
            lines += ["[constraints]", f'assume = ["go == 0 || {self._seen()}"]']
        if self._random.random() < 0.5:
            lines += ["[final]", f'condition = "{self._seen()}"']
        if self._random.random() < 0.25:
            lines += ["[search]", 'overlap = "forbid"']
        for number in range(self._random.randint(1, 4)):
            lines += ["[[property]]", f'id = "g{number}"', f'text = "cover({self._goal()})"']
        return "\n".join(lines) + "\n"

    def _seen(self) -> str:
        task = self._random.randrange(self._count)
        relation = self._random.choice(["==", ">=", "<="])
        mode = f"m{task} == {self._random.randrange(self._modes[task])}"
        return self._random.choice([mode, f"c{task} {relation} {self._value(task)}"])

    def _goal(self) -> str:
        """Of no step, one or more, with and without memory of earlier ones."""
        here, other, given = self._seen(), self._seen(), self._random.choice(["go", "!go", "way == 2"])
        return self._random.choice(
            [
                here,
                f"{here} && {other}",
                f"{here} && {given}",
                f"{here} && X({other})",
                f"rise({here}) && {given}",
                f"G[0,2](go) && X[3]({here})",
                f"!go since ({here})",
            ]
        )
