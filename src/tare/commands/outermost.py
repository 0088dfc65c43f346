# SPDX-License-Identifier: Apache-2.0
"""Around every command: doors to the terminal, and for whatever is raised words and an exit code."""

import sys
import warnings
from collections.abc import Callable

import typer

from tare.commands.fault import faults_elsewhere_told, kept_fault
from tare.commands.terminal import doors
from tare.errors import ExitCode, NobodyReads, TareError
from tare.foreign import shortened

_LONGEST_ERROR = 4000
"""Characters: a screenful, as of a campaign with a fault in many of its keys."""


def ended(command: Callable[[], int | None]) -> int:
    """The exit code of ``command``, all that it printed included."""
    with doors(), faults_elsewhere_told(), warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")  # they speak to who writes a program, in the middle of a table
        try:
            code = command()
            sys.stdout.flush()
        except NobodyReads as error:
            code = error.exit_code
        except TareError as error:
            print(f"tare: {shortened(str(error), _LONGEST_ERROR)}", file=sys.stderr)
            code = error.exit_code
        except (typer.Abort, KeyboardInterrupt):
            code = ExitCode.INTERRUPTED
        except Exception as error:  # noqa: BLE001 - the parser's errors share no public base; others are faults
            code = _unexpected(error)
        return code or ExitCode.DONE


def _unexpected(error: Exception) -> int:
    """What the command-line parser objects to is wrong input; all else is a fault of Tare's."""
    if (show := getattr(error, "show", None)) is not None:
        show()
        return ExitCode.WRONG_INPUT
    print(f"tare: {kept_fault(error)}", file=sys.stderr)
    return ExitCode.CANNOT
