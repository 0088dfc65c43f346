# SPDX-License-Identifier: Apache-2.0
"""The analysis for programs: JSON of schema 1, described in ``docs/json.md``."""

from functools import partial
from typing import Any

from tare.records import Analysis, Status
from tare.report import provenance
from tare.report.calibration import CalibrationShape
from tare.report.emulation import emulated, restored
from tare.report.integrity import JournalShape
from tare.report.losses import SkippedShape
from tare.report.shape import CampaignShape, JsonShape, Number, key, printed
from tare.report.topics import JSON_ORDER
from tare.report.weaker import weaker


def _count(analysis: Analysis, *, status: Status) -> int:
    return sum(outcome.status is status for outcome in analysis.outcomes)


class TrialsShape(JsonShape):
    """Counts of trials."""

    planned: int = key("how many were planned", "planned_trials")
    ok: int = key("how many ended well", partial(_count, status=Status.OK))
    failed: int = key("how many failed", partial(_count, status=Status.FAILED))
    invalid: int = key("how many are invalid", partial(_count, status=Status.INVALID))
    cut_by_budget: bool = key("true if the time budget ended first")
    spared: int = key(
        "how many trials were not needed (and are not counted in `planned`) because an environment had already been "
        "measured enough",
        "spared_trials",
    )


class BusyShape(JsonShape):
    """How busy others kept the host over the whole result."""

    blocks: int = key("how many blocks have a known load")
    busy: int = key("in how many of these some trial's host was busy")
    programs: list[str] = key("the names of the programs that used most")
    sentence: str = key("the same in words")


class Head(CampaignShape):
    """What comes before the topics."""

    margin: Number = key("the difference that counts as none, as a fraction, declared before the start")
    trials: TrialsShape = key("counts of trials", lambda analysis: analysis)
    journal: JournalShape = key("whether the journal is as it was written", "integrity")
    repeated_trials: list[str] = key(
        "the trial of each outcome that is left out because the journal holds an earlier outcome of the same trial, "
        "which counts; empty unless two runs measured into one folder"
    )
    busy: BusyShape | None = key(
        "how busy others kept the host over the whole result; `null` if it was quiet or was not checked"
    )


class Remarks(JsonShape):
    """What comes after the topics."""

    skipped: list[SkippedShape] = key("environments that did not run, or not in all blocks")
    emulated: str | None = key(
        "a sentence naming the environments that ran by software emulation; `null` when none did",
        lambda analysis: emulated(analysis.outcomes),
    )
    restored: str | None = key(
        "a sentence naming the environments whose guests were restored from a snapshot; `null` when none was",
        lambda analysis: restored(analysis.outcomes),
    )
    weaker: list[str] = key(
        "sentences on what an ordinary user's run could not enforce as root's does; empty for root's",
        lambda analysis: weaker(analysis.outcomes),
    )
    calibration: CalibrationShape | None = key(
        "the calibration that the result cites; `null` when there is none"
    )


class PrintedResult(provenance.ProvenanceJson, Remarks, *reversed(JSON_ORDER), Head):  # type: ignore[misc]
    """The object that `tare show RESULT --json` prints."""


def to_json(analysis: Analysis) -> dict[str, Any]:
    """Give what ``json.dumps`` takes; a missing or not finite number is ``None``, never 0."""
    return printed(PrintedResult, analysis)
