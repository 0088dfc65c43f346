# SPDX-License-Identifier: Apache-2.0
"""``tare advise --count-calls``: system calls of a result's workloads, in spare native runs that are never measured."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tare.commands.audience import Progress
from tare.drawing.words import counted
from tare.environments import PROVIDERS
from tare.errors import InputError
from tare.foreign import one_line
from tare.journal.calls import keep_calls, read_calls
from tare.journal.reader import Journal
from tare.journal.result import ResultFolder, require_own
from tare.measure.campaign import Request
from tare.measure.kept import kept_campaign
from tare.nodes.provider import Provider
from tare.plan.campaign import Campaign
from tare.records import NATIVE, Cell, TracedCalls
from tare.workloads import pieces_of

WINDOW_S = 20.0
"""A traced run that takes longer counts nothing."""


def count_calls(path: Path, providers: Mapping[str, Provider] = PROVIDERS) -> None:
    """Trace a spare native run of each workload without counts, and keep the counts beside the result.

    Programs of slices are left out: what they call is known. ``InputError`` if nothing was measured yet.
    """
    from tare.journal.large import read_result
    from tare.measure.traced_calls import trace_calls

    folder = ResultFolder(path)
    require_own(folder)
    journal: Journal = read_result(folder)
    if not journal.sessions:
        raise InputError(f"{path} holds no trial yet; continue it first: tare run {path}")
    known = read_calls(folder.explanation) or TracedCalls(counts={}, untraced={})
    campaign = _uncounted(kept_campaign(folder), known)
    if not campaign.workloads:
        return
    image_name = journal.sessions[0].image_name
    request = Request(campaign=campaign, folder=folder, image_name=image_name, providers=providers)
    traced = trace_calls(request, Progress(), WINDOW_S)
    keep_calls(folder.explanation, known.joined(traced))
    _say(traced)


def _uncounted(campaign: Campaign, known: TracedCalls) -> Campaign:
    """Native alone, with the workloads that have no counts in some layout."""
    without = tuple(
        workload
        for workload in campaign.workloads
        if not pieces_of(workload)
        and any(
            workload.runs_in(layout)
            and NATIVE not in known.counts.get(Cell(workload=workload.name, layout=str(layout)), {})
            for layout in campaign.layouts
        )
    )
    return replace(campaign, environments=(), workloads=without, sharings=(), orders=(), fail_if=())


def _say(traced: TracedCalls) -> None:
    whole = sum(counts[NATIVE].whole for counts in traced.counts.values() if NATIVE in counts)
    print(f"system calls were counted of {counted(whole, 'workload')}", file=sys.stderr)
    for cell, counts in traced.counts.items():
        if NATIVE in counts and not counts[NATIVE].whole:
            print(
                f"  not of {one_line(cell.workload)}: traced, it takes more than {WINDOW_S:g} s",
                file=sys.stderr,
            )
    for cell, reasons in traced.untraced.items():
        for reason in reasons.values():
            print(f"  not of {one_line(cell.workload)}: {one_line(reason)}", file=sys.stderr)
