"""Names of variables, as users write them."""

from __future__ import annotations

import pytest

from bmc.errors import InputRefused
from bmc.system.names import find_variable, suggestion

PORTS = [
    "Rte_Read_Door_Left_Button_flg_Left_Button_flg::u",
    "Rte_Read_Door_Right_Button_flg_Right_Button_flg::u",
    "Rte_IRead_Step_Speed_Value",
    "Rte_Read_Door_Both::first",
    "Rte_Read_Door_Both::second",
    "DW.sf_Left.is_Button_flg",
]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Left_Button_flg", PORTS[0]),
        ("Right_Button_flg::u", PORTS[1]),
        ("Value", PORTS[2]),
        ("Speed_Value", PORTS[2]),
        ("second", PORTS[4]),
        ("is_Button_flg", PORTS[5]),
    ],
)
def test_a_port_is_found_by_the_end_of_its_name(text: str, name: str) -> None:
    """After any underscore, and without the parameter; of other variables whole parts are asked for."""
    assert find_variable(text, PORTS, None) == name


@pytest.mark.parametrize("text", ["Button_flg", "Door_Both", "u"])
def test_an_end_that_several_ports_have_is_ambiguous(text: str) -> None:
    with pytest.raises(InputRefused, match=f"the name '{text}' is ambiguous"):
        find_variable(text, PORTS, None)


def test_names_that_hold_the_word_are_suggested_first() -> None:
    assert suggestion("leftbutton", ["left", "X_U.MyLeftButton_sig"]) == "did you mean 'X_U.MyLeftButton_sig'?"
    assert suggestion("moed", ["X_DW.mode", "up"]) == "did you mean 'X_DW.mode'?"
