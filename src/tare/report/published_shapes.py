# SPDX-License-Identifier: Apache-2.0
"""How a paper's views look to programs."""

from tare.records.published import AgreementWord, Quantity
from tare.report.integrity import JournalShape
from tare.report.replication import ReplicationShape
from tare.report.shape import EstimateShape, JsonShape, Number, Versioned, key


class ClaimShape(JsonShape):
    """What a paper states, with its bounds as fractions."""

    text: str = key("in Tare's words")
    where: str = key("page or section")
    quantity: Quantity = key('"rate" or "time", of which the figures are changes, or "variation"')
    low: Number = key("the change lies above this; `null`: no bound")
    high: Number = key("the change lies below this; `null`: no bound")
    either_sign: bool = key("whether the bounds are of the change's absolute value")
    printed: list[float] | None = key("the number that the paper prints: least and most; `null`: words alone")
    environments: list[str] = key("the paper's environments")
    against: str = key('the other environment; "same": the same one elsewhere')


class PartShape(JsonShape):
    """One arm of ours, or a pair of them."""

    environment: str = key("its name in the campaign; the paper's where there is none")
    what: str = key("what is compared")
    word: AgreementWord = key("as of the agreement")
    reason: str = key("why it is not measured, or undecided; empty otherwise")
    ours: EstimateShape | None = key("in the claim's quantity, as a fraction; `null`: not measured")
    deviations: list[str] = key("how it differs from the paper's own point")
    here: AgreementWord | None = key("the word if that did not matter; `null` without any")


class AgreementShape(JsonShape):
    """A claim beside what the result shows of it."""

    claim: ClaimShape = key("the claim")
    word: AgreementWord = key('"reproduced", "contradicted", "undecided" or "not measured"')
    reason: str = key("why, where it is not measured or undecided")
    here: AgreementWord | None = key(
        "the word if the host's smaller size did not matter; `null` where it is not"
    )
    parts: list[PartShape] = key("what the claim speaks of, one by one")


class TickShape(JsonShape):
    """An environment in a column of ticks."""

    role: str = key("the paper's name")
    published: bool = key("whether the paper has a tick")
    ours: bool | None = key("whether none is shown to be better; `null`: nothing to compare")
    beaten_by: list[str] = key("the environments that are shown to be better")
    reason: str = key("why it was not measured; empty where it was")


class TickColumnShape(JsonShape):
    """A column of ticks."""

    text: str = key("the claim's text")
    ticks: list[TickShape] = key("each environment of the table")


class PrintedValueShape(JsonShape):
    """A cell of the paper's table."""

    row: str = key("its row")
    column: str = key("its column")
    value: str = key("as printed")
    unit: str = key("its unit; may be empty")


class ViewShape(JsonShape):
    """A table or figure of a paper."""

    identity: str = key("such as `b16:fig20`", "view.identity", alias="view")
    paper: str = key("such as `B16, stage 2`")
    where: str = key("page or section", "view.where")
    shows: str = key("what it shows", "view.shows")
    preset: str = key("the preset that measures it", "view.preset")
    note: str = key("what the text gives of it; may be empty", "view.note")
    values: list[PrintedValueShape] = key("the printed table; empty for a figure", "view.values")
    agreements: list[AgreementShape] = key("its claims")
    ticks: list[TickColumnShape] = key("a column for each claim about the best environments")
    treated: list[ReplicationShape] = key("the paper's own treatment of our runs")


class PrintedViews(Versioned):
    """The object that `tare show RESULT --as VIEW --json` prints."""

    views: list[ViewShape] = key("one, or all of them with `--as list`")
    journal: JournalShape = key("whether the journal is as it was written")
