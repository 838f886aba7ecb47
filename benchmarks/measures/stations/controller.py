"""A line of four stations, as a code generator writes it: four charts of one kind, 70 inputs, about 2,000 lines.

Own code; always the same program. Each station has a chart of eleven states, 17 inputs, and counters that saturate at
1,023. The 45 goals are the states of the charts, and that all stations run; ``tour`` is one sequence of inputs
that covers them all, by construction.
"""

from __future__ import annotations

from collections.abc import Iterator

STATIONS = 4
STATES = (
    "OFF", "BOOT", "HOMING", "IDLE", "SETUP", "STARTING", "RUNNING", "PAUSED", "JAMMED", "FAULT", "SERVICE",
)  # fmt: skip
MOST = 1023
"""Where the counters saturate."""

SWITCHES = (
    "power", "start", "stop", "pause", "resume", "ack", "guard", "entry", "exit", "clamp", "air", "key",
)  # fmt: skip
"""Inputs of a station that are 0 or 1."""

RANGES = {"speed": 100, "temperature": 150, "torque": 250, "position": 4095, "recipe": 9999}
"""The other inputs of a station, from 0 to these."""

COMMON = {"emergency": 1, "shift": 3}
"""Inputs that all stations share, from 0 to these."""

FILTERED = {"power": 6, "stop": 5, "guard": 5, "air": 7}
"""Switches that count only once they have been off (``stop``: on) for so many steps."""

SERVICE_AFTER = 400
"""Steps of running after which a station may be serviced."""


def inputs() -> dict[str, int]:
    """The greatest value of each input, the least being 0."""
    own = {**dict.fromkeys(SWITCHES, 1), **RANGES}
    return {**COMMON, **{f"{name}_{n}": most for n in range(1, STATIONS + 1) for name, most in own.items()}}


def goals() -> dict[str, str]:
    """Each goal's name and its condition, a C expression over the state."""
    each = {
        f"{state.lower()}_{n}": f"Line_DW.is_Station{n} == IN_{state}"
        for n in range(1, STATIONS + 1)
        for state in STATES
    }
    return {**each, "all_run": " && ".join(f"Line_DW.is_Station{n} == IN_RUNNING" for n in range(1, STATIONS + 1))}


def project() -> str:
    """The project file."""
    lines = [
        'name = "stations"', "period = 0.01", "", "[sources]", 'files = ["stations.c"]', "",
        "[functions]", 'init = ["Line_initialize"]', 'step = "Line_step"', "properties = []", "",
        "[interface]", 'input = ["Line_U.*"]', 'state = ["Line_DW.*"]', 'output = ["Line_Y.*"]', "", "[ranges]",
        *(f'"Line_U.{name}" = "0..{most}"' for name, most in inputs().items()),
    ]  # fmt: skip
    for name, condition in goals().items():
        lines += ["", "[[property]]", f'id = "{name}"', f'text = "cover({condition})"']
    return "\n".join([*lines, ""])


def tour() -> list[dict[str, int]]:
    """Inputs, step by step, that cover every goal: all stations do the same, and those left out are 0."""
    calm = {"power": 1, "guard": 1, "air": 1, "clamp": 1, "temperature": 20, "speed": 50, "torque": 60}

    def steps(count: int, **changes: int) -> Iterator[dict[str, int]]:
        own = {**calm, **changes}
        for _ in range(count):
            yield {
                f"{name}_{n}": own[name] + (n if name == "recipe" else 0)
                for n in range(1, STATIONS + 1)
                for name in own
            }

    def run_up() -> Iterator[dict[str, int]]:
        yield from steps(10)  # boot
        yield from steps(2, position=2020)  # homing
        yield from steps(1, start=1)
        yield from steps(12)  # starting

    return [
        *steps(10), *steps(2, position=2020), *steps(1, start=1, recipe=1205), *steps(1),
        *steps(12, ack=1), *steps(1, start=1), *steps(12),
        *steps(2, pause=1), *steps(3, resume=1), *steps(4, torque=240), *steps(1), *steps(110),
        *steps(40, ack=1), *run_up(),
        *steps(SERVICE_AFTER + 20), *steps(4, key=1, pause=1), *steps(2),
    ]  # fmt: skip


def program() -> str:
    """The source of the controller; its step function is ``Line_step``, its init function ``Line_initialize``."""
    text = [*_head()]
    for number in range(1, STATIONS + 1):
        text += _station(number)
    text += [
        "/* Model step function */",
        "void Line_step(void)",
        "{",
        *(f"  Line_Station{n}();" for n in range(1, STATIONS + 1)),
        "}",
        "",
        "/* Model initialize function */",
        "void Line_initialize(void)",
        "{",
        *(f"  Line_DW.is_Station{n} = IN_OFF;" for n in range(1, STATIONS + 1)),
        "}",
    ]
    return "\n".join([*text, ""])


# The source


def _head() -> Iterator[str]:
    yield from (
        "/* File: stations.c. Four stations of a line, each with a chart of its own. */",
        "typedef unsigned char boolean_T;",
        "typedef unsigned char uint8_T;",
        "typedef unsigned short uint16_T;",
        "#define true 1U",
        "#define false 0U",
        "",
        "/* Named constants for the charts '<Root>/Station1' to '<Root>/Station4' */",
        *(f"#define IN_{state:<10} ((uint8_T)0x{place:X}U)" for place, state in enumerate(STATES)),
        "",
    )
    fields = {
        "ExtU": [f"  {_type(most)} {name};" for name, most in inputs().items()],
        "DW": [f"  {kind} {name}_Station{n};" for n in range(1, STATIONS + 1) for name, kind in _work().items()],
        "ExtY": [f"  {kind} {name}_{n};" for n in range(1, STATIONS + 1) for name, kind in _outputs().items()],
    }
    names = {"ExtU": "External inputs", "DW": "Block states", "ExtY": "External outputs"}
    for name, members in fields.items():
        yield from (f"/* {names[name]} (root inport and outport signals with default storage) */",)
        yield from ("typedef struct {", *members, f"}} {name}_Line_T;", "")
    yield from ("DW_Line_T Line_DW;", "ExtU_Line_T Line_U;", "ExtY_Line_T Line_Y;", "")


def _type(most: int) -> str:
    return "boolean_T" if most == 1 else "uint8_T" if most < 256 else "uint16_T"


EDGES = ("start", "pause", "resume", "ack", "entry", "exit")
"""Switches of which the rising edge counts."""

COUNTS = {
    "parts_in": "rtb_entry && Line_DW.is_Station{n} == IN_RUNNING",
    "parts_out": "rtb_exit && Line_DW.is_Station{n} == IN_RUNNING",
    "run_steps": "Line_DW.is_Station{n} == IN_RUNNING",
    "idle_steps": "Line_DW.is_Station{n} == IN_IDLE",
    "hot_steps": "Line_U.temperature_{n} > 120U",
    "heavy_steps": "Line_U.torque_{n} > rtb_limit",
}
"""What a station counts, up to ``MOST``, and when."""

MESSAGES = (
    ("hot", "Line_DW.hot_run_Station{n} >= 4U", True),
    ("heavy", "Line_DW.heavy_run_Station{n} >= 6U", True),
    ("cold", "Line_U.temperature_{n} < 2U && Line_DW.is_Station{n} == IN_BOOT", True),
    ("lost", "Line_U.position_{n} > 4090U && Line_DW.is_Station{n} == IN_RUNNING", True),
    ("full", "Line_DW.parts_in_Station{n} > Line_DW.parts_out_Station{n} && "
     "Line_DW.parts_in_Station{n} - Line_DW.parts_out_Station{n} > 50", False),
    ("empty", "Line_DW.parts_out_Station{n} > Line_DW.parts_in_Station{n}", False),
    ("service_due", "Line_DW.run_steps_Station{n} >= 400U", False),
    ("worn", "Line_DW.run_steps_Station{n} >= 1000U", False),
    ("waiting", "Line_DW.idle_steps_Station{n} >= 600U", False),
    ("loose", "Line_U.clamp_{n} == 0U && Line_DW.is_Station{n} == IN_STARTING", False),
    ("no_air", "rtb_no_air && Line_DW.is_Station{n} != IN_OFF", False),
    ("open", "rtb_open && Line_DW.is_Station{n} != IN_OFF", False),
)  # fmt: skip
"""Messages: when each comes, and whether it keeps a station from starting until it is acknowledged."""


def _work() -> dict[str, str]:
    """The state of a station: names and types."""
    return {
        "is": "uint8_T",
        "tc": "uint16_T",
        **{f"{name}_off": "uint16_T" for name in FILTERED},
        **{f"{name}_last": "boolean_T" for name in EDGES},
        "hot_run": "uint16_T",
        "heavy_run": "uint16_T",
        "loaded": "boolean_T",
        "rate": "uint8_T",
        **dict.fromkeys(COUNTS, "uint16_T"),
        **{f"message_{name}": "boolean_T" for name, *_ in MESSAGES},
    }


def _outputs() -> dict[str, str]:
    return {"motor": "boolean_T", "brake": "boolean_T", "lamp": "uint8_T", "rate": "uint8_T", "horn": "boolean_T"}


def _station(number: int) -> Iterator[str]:
    """The function of one station."""
    yield f"/* Output and update for atomic system: '<Root>/Station{number}' */"
    yield from (f"static void Line_Station{number}(void)", "{")
    names = [*EDGES, "off", "halt", "open", "no_air", "permit"]
    yield from (f"  boolean_T rtb_{name};" for name in names)
    yield from ("  uint16_T rtb_limit;", "  uint8_T rtb_target;", "")
    for block in (_filters, _edges, _limits, _messages, _chart, _counters, _lamps):
        yield from (line.format(n=number) if line else line for line in block())
        yield ""
    yield from ("}", "")


def _saturating(name: str, condition: str, reset: bool) -> Iterator[str]:
    """A counter of steps: those in which ``condition`` held, in a row if it is ``reset`` by the others."""
    field = f"Line_DW.{name}_Station{{n}}"
    yield f"  /* Sum: '<S{{n}}>/{name}' incorporates: Saturate '<S{{n}}>/{name}_sat' */"
    yield from (f"  if ({condition}) {{{{", f"    if ({field} < {MOST}U) {{{{", f"      {field}++;", "    }}")
    yield from ("  }} else {{", f"    {field} = 0U;", "  }}", "") if reset else ("  }}", "")


def _filters() -> Iterator[str]:
    signals = {"power": "off", "stop": "halt", "guard": "open", "air": "no_air"}
    for name, steps in FILTERED.items():
        yield from _saturating(f"{name}_off", f"Line_U.{name}_{{n}} == {1 if name == 'stop' else 0}U", reset=True)
        yield f"  rtb_{signals[name]} = (Line_DW.{name}_off_Station{{n}} >= {steps}U);"
        yield ""


def _edges() -> Iterator[str]:
    for name in EDGES:
        last = f"Line_DW.{name}_last_Station{{n}}"
        yield f"  /* RelationalOperator: '<S{{n}}>/Rise {name}' incorporates: UnitDelay '<S{{n}}>/Delay Input1' */"
        yield from (f"  rtb_{name} = (Line_U.{name}_{{n}} != 0U && {last} == 0U);", f"  {last} = Line_U.{name}_{{n}};")
        yield ""


def _limits() -> Iterator[str]:
    yield "  /* MultiPortSwitch: '<S{n}>/Limit' incorporates: Inport '<Root>/shift', '<Root>/speed_{n}' */"
    for shift in range(4):
        word = "if" if shift == 0 else "}} else if"
        yield f"  {word} (Line_U.shift == {shift}U) {{{{" if shift < 3 else "  }} else {{"
        for place, speed in enumerate((25, 50, 75, 101)):
            inner = "if" if place == 0 else "}} else if"
            yield f"    {inner} (Line_U.speed_{{n}} < {speed}U) {{{{" if place < 3 else "    }} else {{"
            yield f"      rtb_limit = {200 - 10 * place - 5 * shift}U;"
            yield f"      rtb_target = {min(100, 25 * (place + 1) - shift)}U;"
        yield "    }}"
    yield from ("  }}", "")
    yield "  /* Switch: '<S{n}>/Ramp' */"
    yield from (
        "  if (Line_DW.is_Station{n} != IN_RUNNING) {{", "    Line_DW.rate_Station{n} = 0U;",
        "  }} else if (Line_DW.rate_Station{n} < rtb_target) {{", "    Line_DW.rate_Station{n}++;",
        "  }} else if (Line_DW.rate_Station{n} > rtb_target) {{", "    Line_DW.rate_Station{n}--;",
        "  }} else {{", "    /* the rate stays */", "  }}", "",
    )  # fmt: skip
    yield from _saturating("hot_run", "Line_U.temperature_{n} > 120U", reset=True)
    yield from _saturating("heavy_run", "Line_U.torque_{n} > rtb_limit", reset=True)


def _messages() -> Iterator[str]:
    for name, condition, _ in MESSAGES:
        yield f"  /* S-R Flip-Flop: '<S{{n}}>/Message {name}' */"
        yield f"  if ({condition}) {{{{"
        yield f"    Line_DW.message_{name}_Station{{n}} = true;"
        yield "  }} else if (rtb_ack) {{"
        yield f"    Line_DW.message_{name}_Station{{n}} = false;"
        yield from ("  }}", "")
    yield "  /* Logic: '<S{n}>/Permit' */"
    terms = [f"Line_DW.message_{name}_Station{{n}} == false" for name, _, keeps in MESSAGES if keeps]
    yield f"  rtb_permit = ({' && '.join(terms)});"


TRANSITIONS: dict[str, list[tuple[str, str, list[str]]]] = {
    "OFF": [("Line_U.power_{n} != 0U && !rtb_open", "BOOT", ["Line_DW.loaded_Station{n} = false;"])],
    "BOOT": [("rtb_off", "OFF", []), ("TC >= 5U", "HOMING", [])],
    "HOMING": [
        ("rtb_off", "OFF", []),
        ("Line_U.position_{n} >= 1950U && Line_U.position_{n} <= 2100U && Line_U.clamp_{n} != 0U", "IDLE", []),
        ("TC >= 60U", "FAULT", []),
    ],
    "IDLE": [
        ("rtb_off", "OFF", []),
        ("rtb_start && Line_U.recipe_{n} >= 1200U && Line_U.recipe_{n} < 1220U", "SETUP", []),
        ("rtb_start && rtb_permit && Line_U.speed_{n} > 0U", "STARTING", []),
        ("rtb_no_air", "HOMING", []),
    ],
    "SETUP": [
        ("rtb_off", "OFF", []),
        ("TC >= 8U && Line_U.ack_{n} != 0U", "IDLE", ["Line_DW.loaded_Station{n} = true;"]),
        ("rtb_halt", "IDLE", []),
    ],
    "STARTING": [
        ("rtb_off || rtb_halt", "IDLE", []),
        ("rtb_open", "FAULT", []),
        ("TC >= 9U && Line_U.torque_{n} < 150U", "RUNNING", []),
    ],
    "RUNNING": [
        ("Line_U.emergency != 0U && rtb_halt", "FAULT", []),
        ("rtb_halt", "IDLE", []),
        ("rtb_open || Line_DW.hot_run_Station{n} >= 6U", "FAULT", []),
        ("Line_DW.heavy_run_Station{n} >= 3U", "JAMMED", []),
        ("rtb_pause && Line_U.key_{n} != 0U && Line_DW.run_steps_Station{n} >= SERVICEU", "SERVICE", []),
        ("rtb_pause", "PAUSED", []),
    ],
    "PAUSED": [
        ("rtb_halt || TC >= 40U", "IDLE", []),
        ("rtb_resume && rtb_permit", "RUNNING", []),
    ],
    "JAMMED": [
        ("rtb_off", "OFF", []),
        ("TC >= 80U", "FAULT", []),
        ("rtb_ack && Line_U.torque_{n} < 20U", "IDLE", []),
    ],
    "FAULT": [("TC >= 20U && rtb_ack", "OFF", [])],
    "SERVICE": [
        ("TC >= 50U && Line_U.key_{n} == 0U", "OFF", ["Line_DW.run_steps_Station{n} = 0U;"]),
    ],
}
"""The chart: from each state the conditions, in their order, the state that follows, and actions."""


def _chart() -> Iterator[str]:
    yield "  /* Chart: '<S{n}>/Station' */"
    yield from ("  if (Line_DW.tc_Station{n} < 1023U) {{", "    Line_DW.tc_Station{n}++;", "  }}", "")
    yield "  switch (Line_DW.is_Station{n}) {{"
    for state, transitions in TRANSITIONS.items():
        yield f"   case IN_{state}:"
        yield f"    /* During '{state}': '<S{{n}}>:{10 + len(state)}' */"
        for place, (condition, following, actions) in enumerate(transitions):
            text = condition.replace("TC", "Line_DW.tc_Station{n}").replace("SERVICE", str(SERVICE_AFTER))
            yield f"    {'if' if place == 0 else '}} else if'} ({text}) {{{{"
            yield f"      /* Transition: '<S{{n}}>:{100 + place}' */"
            yield from (f"      {action}" for action in actions)
            yield f"      Line_DW.is_Station{{n}} = IN_{following};"
            yield "      Line_DW.tc_Station{n} = 0U;"
        yield from ("    }}", "    break;", "")
    yield from ("   default:", "    Line_DW.is_Station{n} = IN_OFF;", "    Line_DW.tc_Station{n} = 0U;", "    break;")
    yield from ("  }}", "", "  /* End of Chart: '<S{n}>/Station' */")


def _counters() -> Iterator[str]:
    for name, condition in COUNTS.items():
        yield from _saturating(name, condition, reset=False)


def _lamps() -> Iterator[str]:
    yield "  /* Outport: '<Root>/motor_{n}' incorporates: Logic '<S{n}>/Run' */"
    for output, condition in (
        ("motor", "Line_DW.is_Station{n} == IN_RUNNING && Line_DW.rate_Station{n} > 0U"),
        ("brake", "Line_DW.is_Station{n} != IN_RUNNING && Line_DW.is_Station{n} != IN_STARTING"),
        ("horn", "Line_DW.is_Station{n} == IN_STARTING || Line_DW.message_worn_Station{n} != false"),
    ):
        yield from (f"  if ({condition}) {{{{", f"    Line_Y.{output}_{{n}} = true;")
        yield from ("  }} else {{", f"    Line_Y.{output}_{{n}} = false;", "  }}", "")
    yield "  Line_Y.rate_{n} = Line_DW.rate_Station{n};"
    yield "  Line_Y.lamp_{n} = Line_DW.is_Station{n};"
