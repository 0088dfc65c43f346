# SPDX-License-Identifier: Apache-2.0
"""Wrapper of every command: doors to the terminal, and words and an exit code for every exception."""

import sys
import warnings
from collections.abc import Callable

import typer

from tare.commands.fault import faults_elsewhere_told, kept_fault
from tare.commands.terminal import doors
from tare.errors import ExitCode, NobodyReads, TareError
from tare.foreign import shortened

_LONGEST_ERROR = 4000
"""Characters: a screenful, for example for a campaign with errors in many keys."""


def ended(command: Callable[[], int | None]) -> int:
    """The exit code of ``command``, after flushing all its output."""
    with doors(), faults_elsewhere_told(), warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("ignore")  # they address programmers, and would appear inside a table
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
    """Objections of the command-line parser are wrong input; every other error is a fault of Tare."""
    if (show := getattr(error, "show", None)) is not None:
        show()
        return ExitCode.WRONG_INPUT
    print(f"tare: {kept_fault(error)}", file=sys.stderr)
    return ExitCode.CANNOT
