# SPDX-License-Identifier: Apache-2.0
"""``tare history``: all results below a folder in the order of their dates, and a gate for regressions."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tare.commands.show import measured_result
from tare.errors import ExitCode, InputError, OutputError, TareError
from tare.foreign import one_line
from tare.journal.result import CAMPAIGN_FILE, EXPLANATIONS

if TYPE_CHECKING:
    from tare.records import Analysis, FailIf, ResultHistory

GITLAB_FILE = Path("gl-code-quality-report.json")
_WORSE = re.compile(r"\bworse\s+by\b|\bworse\s+than\b", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryOptions:
    """Settings from the command line."""

    fail_if: tuple[str, ...] = ()
    junit: Path | None = None
    annotations: str | None = None
    verbose: bool = False
    as_json: bool = False


def run_history(directory: Path, options: HistoryOptions) -> ExitCode:
    """Print the history; ``FELL_SHORT`` for a regression, ``CANNOT`` if there is nothing to compare.

    Raises ``InputError`` for a folder without results, a wrong condition or an unknown kind of annotation.
    """
    if options.annotations not in {None, "github", "gitlab"}:
        raise InputError(f"--annotations: must be github or gitlab, but is {options.annotations!r}")
    if options.annotations == "github" and options.as_json:
        raise InputError("--annotations github and --json both write to standard output; choose one of them")
    if (options.junit or options.annotations) and not options.fail_if:
        raise InputError('--junit and --annotations need a condition: --fail-if "overhead worse by 2%"')
    from tare.analyze.history import history
    from tare.commands.compare import refuse_shared

    analyses, unreadable = _analyses(directory)
    refuse_shared(analyses)
    conditions = _conditions(options.fail_if, analyses)
    _print(made := history(analyses, conditions, unreadable), options)
    _write(made, options)
    return _exit_code(made, conditions)


def _analyses(directory: Path) -> tuple[list["Analysis"], list[str]]:
    """Every readable result below ``directory``, without those that explain another, and why others are not."""
    folders = sorted(path.parent for path in directory.rglob(CAMPAIGN_FILE))
    analyses, unreadable = [], []
    for folder in folders:
        if EXPLANATIONS in folder.relative_to(directory).parts:
            continue
        try:
            analyses.append(measured_result(folder))
        except TareError as error:
            unreadable.append(str(error))
    if not analyses and not unreadable:
        raise InputError(f"{directory}: there is no result below it; `tare run` makes one")
    return analyses, unreadable


def _conditions(texts: Sequence[str], analyses: Sequence["Analysis"]) -> tuple["FailIf", ...]:
    """The conditions of ``--fail-if``: as for ``tare run``, with "worse by" in the place of ">"."""
    from dataclasses import replace

    from tare.plan.blocks import parse_fail_if

    names = sorted({each.overhead.summary.environment for own in analyses for each in own.verdicts})
    conditions = []
    for text in texts:
        compared, worse = _WORSE.subn(">", text)
        if worse != 1:
            raise InputError(
                f'--fail-if: {text!r} is no condition; write such as "overhead worse by 2%" or '
                '"docker wall_s overhead worse by 2%"'
            )
        try:
            parsed = parse_fail_if(compared, names)
        except ValueError as error:
            raise InputError(f"--fail-if: {error}") from error
        if parsed.loss:
            raise InputError(f"--fail-if: {one_line(text)} is about losses, and a history is of overheads")
        conditions.append(replace(parsed, text=text.strip()))
    return tuple(conditions)


def _print(made: "ResultHistory", options: HistoryOptions) -> None:
    from tare.commands.console import PlainConsole
    from tare.report.annotations import github
    from tare.report.history import history_json, print_history

    if options.as_json:
        print(json.dumps(history_json(made), indent=2, allow_nan=False))
        return
    print_history(made, PlainConsole(), verbose=options.verbose)
    if options.annotations == "github":
        for line in github(made):
            print(line)


def _write(made: "ResultHistory", options: HistoryOptions) -> None:
    from tare.report.annotations import gitlab, junit

    files: dict[Path, bytes] = {}
    if options.junit is not None:
        files[options.junit] = junit(made)
    if options.annotations == "gitlab":
        files[GITLAB_FILE] = gitlab(made).encode()
    for path, content in files.items():
        try:
            path.write_bytes(content)
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}; choose another place") from error


def _exit_code(made: "ResultHistory", conditions: Sequence["FailIf"]) -> ExitCode:
    """A gate that lacks a result or an answer has compared nothing, whatever the others say."""
    from tare.records import Ruling

    if any(regression.ruling is Ruling.EXCEEDED for regression in made.regressions):
        return ExitCode.FELL_SHORT
    answered = {regression.condition for regression in made.regressions}
    unanswered = [condition for condition in conditions if condition not in answered]
    for condition in unanswered:
        print(
            f"tare: --fail-if {one_line(condition.text)!r}: the newest result and an earlier one have nothing of this "
            "in common; tare history DIR shows what each of them has",
            file=sys.stderr,
        )
    lacks = made.unreadable or unanswered if conditions else not made.series
    return ExitCode.CANNOT if lacks else ExitCode.DONE
