# SPDX-License-Identifier: Apache-2.0
"""``tare run``: a campaign from its file to its report."""

import sys
from datetime import UTC, datetime
from pathlib import Path

from tare.errors import InputError
from tare.host.facts import memory_byte, online_processors
from tare.journal.result import CAMPAIGN_FILE, ResultFolder
from tare.measure.campaign import Request, kept_campaign
from tare.plan.campaign import Campaign, resolve, with_overrides
from tare.records import Analysis, Status
from tare.units import parse_duration_s

INTERRUPTED = 130


def run_campaign_command(
    campaign: str,
    output: Path | None,
    blocks: int | None,
    budget: str | None,
    seed: int | None,
    image_name: str,
    as_json: bool,
) -> int:
    """Run or continue; the tables go to standard output, the report into the result folder."""
    chosen, folder = _campaign_and_folder(campaign, output)
    chosen = with_overrides(chosen, blocks=blocks, budget_s=budget_s(budget), seed=seed)
    return run_and_show(Request(campaign=chosen, folder=folder, image_name=image_name), as_json=as_json)


def _campaign_and_folder(campaign: str, output: Path | None) -> tuple[Campaign, ResultFolder]:
    """A result folder is continued, the campaign that it keeps is repeated; all else is a preset or a file."""
    folder = ResultFolder(Path(campaign))
    if Path(campaign).name == CAMPAIGN_FILE:
        kept = kept_campaign(ResultFolder(Path(campaign).parent))
        return kept, ResultFolder(output or new_folder(kept.name))
    if folder.exists():
        if output is not None and output.resolve() != folder.path.resolve():
            raise InputError(
                f"{campaign} is a result folder and is continued where it is; leave out --output"
            )
        return kept_campaign(folder), folder
    chosen = resolve(campaign, host_processors=len(online_processors()), host_memory_byte=memory_byte())
    return chosen, ResultFolder(output or new_folder(chosen.name))


def new_folder(name: str) -> Path:
    return Path("results") / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


def budget_s(text: str | None) -> float | None:
    """``InputError`` for what is no duration."""
    try:
        return None if text is None else parse_duration_s(text)
    except ValueError as error:
        raise InputError(f"--budget: {error}") from error


def run_and_show(request: Request, *, as_json: bool) -> int:
    """Run, print the tables, write the report; returns the exit code."""
    from tare.commands.audience import Progress
    from tare.pipeline import run_campaign

    progress = Progress()
    try:
        analysis = run_campaign(request, progress)
    except KeyboardInterrupt:
        progress.finish()
        print(f"interrupted; continue with: tare run {request.folder.path}", file=sys.stderr)
        return INTERRUPTED
    progress.finish()
    _show(analysis, request.folder, as_json=as_json)
    return 1 if any(outcome.status is Status.FAILED for outcome in analysis.outcomes) else 0


def _show(analysis: Analysis, folder: ResultFolder, *, as_json: bool) -> None:
    """The tables or the JSON to standard output; where the report is, as a note."""
    from tare.commands.show import print_analysis
    from tare.report.document import write_report

    print_analysis(analysis, as_json=as_json, show_all=False)
    write_report(analysis, folder.report)
    print(f"report: {folder.report}", file=sys.stderr)
