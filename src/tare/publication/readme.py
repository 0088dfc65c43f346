# SPDX-License-Identifier: Apache-2.0
"""The README.md of an artifact: what it claims, how each claim is checked, and what it takes to measure again."""

from collections.abc import Iterator
from datetime import datetime

from tare.drawing.words import counted, moment
from tare.foreign import one_line
from tare.publication.citation import CitedPaper
from tare.records import NATIVE, Analysis
from tare.report.exports import TextTable, markdown_text, to_markdown
from tare.report.provenance import campaign_facts, host_facts
from tare.units import format_duration

CHECK = "diff verdicts.csv expected/verdicts.csv"
_FILES = (
    (
        "result/",
        "the campaign, the journal with every sample, and what explains them: what `tare show` reads",
    ),
    ("expected/verdicts.csv", "every comparison as this artifact claims it"),
    ("methods.md", "what was run and how it was judged, in words"),
    ("rules.md", "the twelve rules of Hoefler and Belli, kept or not, with the evidence"),
    ("environment.json", "the facts of every host and session"),
    ("image.json", "the image: its digest and packages"),
    ("CITATION.cff", "how to cite these measurements"),
)


def readme(analysis: Analysis, paper: CitedPaper, *, anonymous: bool, folders: bool = False) -> str:
    """GitHub-flavoured Markdown; ``folders``: whether the campaign names some of its own host."""
    return "\n".join(_lines(analysis, paper, anonymous, folders)) + "\n"


def _lines(analysis: Analysis, paper: CitedPaper, anonymous: bool, folders: bool) -> Iterator[str]:
    version = analysis.sessions[-1].tare_version
    yield f"# Artifact: {markdown_text(paper.title)}\n"
    yield (
        f"Measurements of {counted(_environments(analysis), 'environment')} against native execution, by Tare "
        f"{version}, with everything that is needed to check them.\n"
    )
    yield (
        to_markdown(TextTable(("in this folder", "what it is"), _FILES))
        .replace("\\`", "`")
        .replace("\\_", "_")
    )
    yield "## Claims, and how each is checked\n"
    yield _claims(analysis)
    yield (
        "Every claim is computed from the journal alone. Step 1 below computes them all again; step 2 measures again.\n"
    )
    yield from _reanalysis(version)
    yield from _repetition(analysis)
    if folders:
        yield "The campaign names folders of its own host, here /folder-1 and so on: put yours in their place first.\n"
    yield from _environment(analysis)
    yield from _rest(paper, anonymous)


def _environments(analysis: Analysis) -> int:
    return len({outcome.trial.environment.name for outcome in analysis.outcomes} - {NATIVE})


def _claims(analysis: Analysis) -> str:
    rows: list[tuple[str, str, str]] = []
    for verdict in analysis.verdicts:
        summary = verdict.overhead.summary
        if summary.primary:
            where = f"{summary.cell.workload} on {summary.cell.layout}"
            check = f"{summary.environment}, {where}, {summary.metric}"
            rows.append((str(len(rows) + 1), f"{where}: {summary.metric}: {verdict.sentence}", check))
    if not rows:
        return "No comparison on a primary metric is in this result.\n"
    return to_markdown(TextTable(("", "claim", "row of expected/verdicts.csv"), tuple(rows)))


def _reanalysis(version: str) -> Iterator[str]:
    yield f"## 1. Check the claims: a minute, no root, no image\n\nIt takes Python 3.11 or newer, and Tare {version}.\n"
    yield f"```sh\ntare show result\ntare export result --output verdicts.csv\n{CHECK}\n```\n"
    yield (
        "`tare show` first says whether the journal is as it was written; `diff` says nothing where every figure is "
        "the same. `tare report result` draws the whole report.\n"
    )


def _repetition(analysis: Analysis) -> Iterator[str]:
    last = analysis.sessions[-1]
    spent_s = sum(outcome.elapsed_s for outcome in analysis.outcomes)
    facts = {fact.label: fact.values for fact in campaign_facts(analysis)}
    yield f"## 2. Measure again: about {format_duration(spent_s)}\n"
    yield (
        f"It ran {counted(len(analysis.outcomes), 'trial')} with the seed {last.seed} on the image {last.image_name} "
        f"({last.image_digest}). It takes a quiet host with the technologies of these environments:\n"
    )
    for label in ("environments", "layouts", "limits of a trial"):
        yield from (
            f"- {label.removesuffix('s of a trial')}: {markdown_text(each)}" for each in facts.get(label, ())
        )
    build = "tare image build\n" if last.image_name == "default" else ""
    yield (
        f"\n```sh\ntare doctor\n{build}tare run result/campaign.json --output again\n"
        "tare compare result again\n```\n"
    )
    if not build:
        yield f"Have the image {last.image_name} first: image.json describes it.\n"
    yield (
        "`tare doctor` names what this host lacks. `tare compare` says of every metric whether the two results differ. "
        "On other hardware absolute times differ; overheads are what should hold, and one of few per cent may not.\n"
    )


def _environment(analysis: Analysis) -> Iterator[str]:
    began, ended = (extreme(each.started_utc for each in analysis.outcomes) for extreme in (min, max))
    yield f"## Where it was measured\n\nFrom {_when(began)} to {_when(ended)}.\n"
    rows = tuple((fact.label, "; ".join(fact.values)) for fact in host_facts(analysis))
    yield to_markdown(TextTable(("fact", "value"), rows))


def _when(started_utc: str) -> str:
    try:
        datetime.fromisoformat(started_utc)
    except ValueError:
        return "an unknown time"
    return moment(started_utc)


def _rest(paper: CitedPaper, anonymous: bool) -> Iterator[str]:
    said = (
        f"These data: {paper.licence}."
        if paper.licence
        else "These data: the authors have not chosen one yet."
    )
    yield f"## Licence\n\n{one_line(said)} Tare itself: Apache-2.0.\n"
    if anonymous:
        yield (
            "## Anonymity\n\nNames of people, hosts and folders, and addresses, are replaced by placeholders such as "
            "host-1. A journal that held one is sealed anew; no figure is changed. The authors have the key."
        )
