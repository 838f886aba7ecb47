"""A small controller of which every kind of answer is known: a requirement that fails, one that holds, a goal that
nothing covers, and a division by zero; with the results that commands leave of it."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import chaincover, write_files

FILES = {
    "level.c": """int level;
void level_init(void) { level = 0; }

int level_step(int fill)
{
    if (fill && level < 7) level++;
    else if (!fill && level > 0) level--;
    return 10 / (level - 5);
}
""",
    "chaincover.toml": """name = "level"
period = 0.5

[sources]
files = ["level.c"]

[functions]
init = ["level_init"]
step = "level_step"

[ranges]
fill = [0, 1]

[[property]]
id = "falls"
requirement = "L-1"
text = "G(level == 3 && !fill -> X(level == 1))"

[[property]]
id = "rises"
requirement = "L-2"
text = "G(level == 1 && fill -> X(level == 2))"

[[property]]
id = "full"
text = "G(level == 6 -> X(level == 5))"
""",
}
STEP = FILES["level.c"].split("int level_step")[0].count("\n") + 1
"""The line of the step function."""
DIVISION = FILES["level.c"].split("return")[0].count("\n") + 1


def results(folder: Path) -> Path:
    """The folder of the results in ``folder``: chain, what ``check`` prints, and a replay that is judged."""
    write_files(folder, FILES)
    out = folder / "out"
    assert chaincover("generate", folder, "--no-replay", "-q", "-o", out).code == 1
    (out / "check.json").write_text(json.dumps(chaincover("check", folder, "--json", "--compare", 0).json))
    assert chaincover("replay", folder, out, "-q", "-o", out / "judged.json").code == 1
    return out
