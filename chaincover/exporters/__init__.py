"""Questions for model checkers, and chains for benches, written in formats of others: one file a format.

A format of another package is an entry point of the group ``GROUP``: ``name = "module:class"``, where the class is an
``Exporter`` or a ``ChainExporter`` (``chaincover.exporters.protocol``) that is made without arguments, anew for each
command.
"""

from __future__ import annotations

from importlib import import_module

from bmc.errors import UsageError
from chaincover.exporters.protocol import ChainExporter, Exporter
from chaincover.plug_ins import entry_points

GROUP = "chaincover.exporters"
"""The group of entry points by which other packages add formats."""

OWN = {
    "aiger": "chaincover.exporters.aiger:Aiger",
    "btor2": "chaincover.exporters.btor2:Btor2",
    "c": "chaincover.exporters.harness_c:HarnessC",
    "ctest": "chaincover.exporters.ctest:CTest",
    "csv": "chaincover.exporters.table:Table",
    "firmware": "chaincover.exporters.firmware:Firmware",
    "json": "chaincover.exporters.stimulus:Stimuli",
    "pytest": "chaincover.exporters.pytest_module:PytestModule",
    "vcd": "chaincover.exporters.waveform:Waveform",
}
"""The formats of this package; no other package takes the place of one."""


def formats() -> dict[str, str]:
    """Where each format is written, ``module:class`` by its name; those of other packages last."""
    return OWN | {name: place for name, place in entry_points(GROUP).items() if name not in OWN}


def exporter(name: str) -> Exporter | ChainExporter:
    """A new writer of the format ``name``. UsageError if there is none, or if another package's cannot be loaded."""
    module, _, attribute = formats().get(name, "").partition(":")
    if not module:
        raise UsageError(f"no format is called {name!r}", hint=f"choose one of {', '.join(formats())}")
    try:
        made = getattr(import_module(module), attribute)()
    except Exception as error:
        if name in OWN:
            raise
        text = f"the format {name} of another package cannot be loaded: {error}"
        raise UsageError(text, hint="install that package again, or remove it") from None
    if not isinstance(made, (Exporter, ChainExporter)):
        text = f"the format {name} of another package has no method 'files', and no 'suffix' with a method 'write'"
        raise UsageError(text, hint="install that package again, or remove it")
    return made
