# SPDX-License-Identifier: Apache-2.0
"""The host's own build against the image: what each environment costs in all, and which software differs."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tare.analyze.answers import joined
from tare.analyze.differences import signed_range
from tare.drawing.artist import Artist
from tare.foreign import one_line
from tare.records import HOST_FILES, Analysis, Estimate, HostShare, Software, SoftwarePart
from tare.report.arrange import place
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import EstimateShape, JsonShape, MetricShape, key

TITLE = "Against the host's own software"
EXPLANATION = (
    "An environment against the host's own build is a comparison of software and container together. The image's files "
    "run natively are between the two: against the host's they show what the software costs, and the environment "
    "against them shows what the container costs. Each interval is from the common blocks of its pair; a "
    "verdict's own holds jointly with the others, the rest by themselves."
)
LISTED = (
    "Read in the program's file and in all libraries that it is linked with; what it opens itself while it runs is not "
    "in these files. The kernel is the same on both sides."
)


class SoftwarePartShape(JsonShape):
    """One kind of software that the program needs."""

    label: str = key("what it is: `program`, `compiler`, `C library`, `libm`, `MPI`, ...")
    host: str | None = key("the host's; `null` if it needs none there")
    image: str | None = key("the image's")
    same: bool = key("whether all its files are equal, byte for byte")


class SoftwareShape(JsonShape):
    """One object per command that both the host and the image have."""

    workload: str = key("the workload's name")
    program: str = key("as the command names it")
    parts: list[SoftwarePartShape] = key("the kinds of software")


class HostShareShape(MetricShape):
    """One object per cell and environment, on the primary metric."""

    host: str = key("the environment with the host's own files")
    total: EstimateShape = key(
        "how much more time the environment takes than the host's own build, as a fraction"
    )
    software: EstimateShape = key("the image's files natively against the host's")
    container: EstimateShape = key("the environment against the image's files natively")


def software(analysis: Analysis) -> tuple[Software, ...]:
    """As of the last session that read it."""
    return next((session.software for session in reversed(analysis.sessions) if session.software), ())


class HostSoftwareJson(JsonShape):
    software: list[SoftwareShape] = key(
        "where the host's software differs; empty without `--against host`", software
    )
    host_shares: list[HostShareShape] = key(
        "software and container taken apart; empty without `--against host`"
    )


def host_arms(analysis: Analysis) -> frozenset[str]:
    """Names of the environments with the host's own files."""
    environments = (outcome.trial.environment for outcome in analysis.outcomes)
    return frozenset(each.name for each in environments if each.technology == HOST_FILES)


def range_said(estimate: Estimate) -> str:
    """Such as ``+12.1 to +13.0 %``."""
    if estimate.low is None or estimate.high is None:
        return "no interval, as there are too few blocks"
    return signed_range(estimate.low, estimate.high)


def share_said(share: HostShare) -> str:
    """In one sentence."""
    return (
        f"{range_said(share.total)} against the host's build: software {range_said(share.software)}, container "
        f"{range_said(share.container)} (n = {share.total.n})"
    )


def differing_said(compared: Software) -> str:
    """Which parts are not the same."""
    labels = [part.label for part in compared.parts if not part.same]
    return f"differs from the image in {joined(labels)}" if labels else "has the same files as the image"


def _part_said(part: SoftwarePart) -> str:
    if part.same:
        return f"the same: {one_line(part.image or '')}"
    return f"host {one_line(part.host or 'none')}; image {one_line(part.image or 'none')}"


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:  # noqa: ARG001 - as every topic's
    """Print a line for each environment and each kind of software."""
    if not analysis.host_shares and not software(analysis):
        return
    console.print(Text(f"\n{TITLE}", style="bold"))
    console.print(Text(EXPLANATION))
    for share in analysis.host_shares:
        console.print(Text(f"{one_line(share.environment)} ({place(share.cell)}): {share_said(share)}"))
    for compared in software(analysis):
        console.print(Text(f"{one_line(compared.program)}: the host {differing_said(compared)}. {LISTED}"))
        for part in compared.parts:
            console.print(Text(f"  {part.label}: {_part_said(part)}"))


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    shares: Sequence[HostShare] = analysis.host_shares
    compared: Sequence[Software] = software(analysis)
    if not shares and not compared:
        return [MISSING]
    said = [(share, share_said(share)) for share in shares]
    return [
        section(
            "host-software",
            TITLE,
            title=TITLE,
            explanation=EXPLANATION,
            listed=LISTED,
            shares=said,
            compared=compared,
        )
    ]
