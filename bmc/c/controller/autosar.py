"""The functions of AUTOSAR's run-time environment (Rte_..., SchM_...): what each one does, told by its name."""

from __future__ import annotations

ROLES = {
    "Rte_Read_": "input",
    "Rte_DRead_": "input",
    "Rte_IRead_": "input",
    "Rte_Mode_": "input",
    "Rte_IsUpdated_": "input",
    "Rte_IStatus_": "status",
    "Rte_Write_": "output",
    "Rte_IWrite_": "output",
    "Rte_IWriteRef_": "output",
    "Rte_Switch_": "output",
    "Rte_IrvRead_": "shared",
    "Rte_IrvIRead_": "shared",
    "Rte_IrvWrite_": "shared",
    "Rte_IrvIWrite_": "shared",
    "Rte_Pim_": "memory",
    "Rte_CData_": "constant",
    "Rte_Prm_": "constant",
    "Rte_Enter_": "output",
    "Rte_Exit_": "output",
    "SchM_Enter_": "output",
    "SchM_Exit_": "output",
}
"""The role of a function by the start of its name, as ``bmc.c.controller.externals`` has them."""

REFUSED = {
    "Rte_Receive_": "it takes from a queue, so that two calls in one step may give two values",
    "Rte_Send_": "it puts into a queue, so that two calls in one step are two values",
    "Rte_Call_": "it runs a server, whose effects are unknown",
    "Rte_Result_": "it gives the result of a server, which is unknown",
    "Rte_Invalidate_": "it changes what the status of another call is",
    "Rte_IInvalidate_": "it changes what the status of another call is",
    "Rte_Feedback_": "its answer depends on what was sent before",
    "Rte_IFeedback_": "its answer depends on what was sent before",
    "Rte_SwitchAck_": "its answer depends on what was sent before",
    "Rte_Trigger_": "it runs other code",
    "Rte_IrTrigger_": "it runs other code",
}
"""Why a function has no role unless the project gives it one."""

_SHARED = ("Rte_IrvIRead_", "Rte_IrvRead_", "Rte_IrvIWrite_", "Rte_IrvWrite_")


def role(name: str) -> str:
    """The role of a function of the run-time environment, '' for any other."""
    return _by_start(name, ROLES)


def reason(name: str) -> str:
    """Why a function of the run-time environment has no role by itself; '' for one that has, and for any other."""
    return _by_start(name, REFUSED)


def is_standard(name: str) -> bool:
    """Whether a function belongs to the run-time environment: its result tells whether it worked, 0 is RTE_E_OK."""
    return name.startswith(("Rte_", "SchM_"))


def shared_name(name: str) -> str:
    """The name of the inter-runnable variable that a function reads or writes: ``Rte_Irv_<runnable>_<variable>``."""
    start = next(start for start in _SHARED if name.startswith(start))
    return "Rte_Irv_" + name.removeprefix(start)


def _by_start(name: str, table: dict[str, str]) -> str:
    return next((value for start, value in table.items() if name.startswith(start)), "")
