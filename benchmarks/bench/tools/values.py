"""Whether a setting can have a value: asked of the option that it is handed on as, before anything runs."""

from __future__ import annotations

import click


def refused(command: click.Command, option: str, value: str | int | float | bool) -> str:
    """Why ``option`` of ``command`` cannot have ``value``; '' where it can."""
    asked = next(each for each in command.params if option in each.opts)
    if isinstance(asked, click.Option) and asked.is_flag:
        return "" if isinstance(value, bool) else "true or false is needed, without quotes"
    try:
        asked.type.convert(str(value), asked, None)
    except click.BadParameter as error:
        return error.message.rstrip(".")
    return ""
