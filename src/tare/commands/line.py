# SPDX-License-Identifier: Apache-2.0
"""The command line's grammar where typer's own does not do: a user's command after Tare's options."""

from dataclasses import dataclass
from typing import Any

from typer.core import TyperCommand

from tare.errors import InputError

_END = "--"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a run prints, and whether it asks before a long one."""

    as_json: bool = False
    quiet: bool = False
    """No progress."""
    verbose: bool = False
    """Every trial, and all tables."""
    asks: bool = False


class PlainCommand(TyperCommand):
    """Help without the types of Python for arguments: the name says what it is."""

    def __init__(self, *args: Any, **values: Any) -> None:
        """As ``TyperCommand``."""
        super().__init__(*args, **values)
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: ""  # type: ignore[attr-defined]  # noqa: ARG005


class CommandAfterOptions(PlainCommand):
    """Options end at ``--`` or at the first word that is none; the rest is the user's command, whatever it holds."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Raise ``InputError`` for an option of Tare's within a command that no ``--`` sets apart."""
        ctx.allow_interspersed_args = False
        given = list(args)
        rest: list[str] = super().parse_args(ctx, args)
        command = ctx.params.get("command") or []
        if given[: len(given) - len(command)][-1:] != [_END]:
            self._refuse_own(command)
        return rest

    def _refuse_own(self, command: list[str]) -> None:
        own = {name for option in self.params for name in option.opts if name.startswith(_END)}
        for word in command:
            name = word.partition("=")[0]
            if name in own:
                raise InputError(
                    f"{name} stands after the command {command[0]!r} and would be passed to it: write Tare's options "
                    f"first, then -- and the command. If it is the command's, write -- before {command[0]!r}"
                )
