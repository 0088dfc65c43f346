# SPDX-License-Identifier: Apache-2.0
"""``tare publish``: what a paper needs of a result, in one folder, with an artifact for its reviewers."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.commands.imported import any_imported
from tare.commands.show import measured_result
from tare.errors import ExitCode, InputError, OutputError
from tare.host.scratch import scratch_folder
from tare.journal.result import CAMPAIGN_FILE, ResultFolder

if TYPE_CHECKING:
    from tare.publication.anonymous import Files
    from tare.publication.citation import CitedPaper
    from tare.publication.names import Names
    from tare.records import Analysis

ARTIFACT = "artifact.tar.gz"
KEY = "names.json"
_FOLDER = b"/folder-"
"""The beginning of a placeholder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """What the user chose."""

    title: str | None
    authors: tuple[str, ...]
    licence: str | None
    named: bool


def run_publish(result: Path, output: Path, options: PublishOptions) -> ExitCode:
    """Make the folder ``output``, fill it, and print what each file is for.

    Raises ``InputError`` if it is there already, or for what is no result of Tare; ``OutputError`` if it cannot be
    written, or if the artifact would not give the same answer as the result.
    """
    from tare.publication.citation import CitedPaper

    if any_imported([result]):
        raise InputError(
            f"{result} is no result folder of Tare; tare export writes tables of what other tools measured"
        )
    if output.exists():
        raise InputError(f"{output} is there already; choose another name, or remove it")
    measured = measured_result(result)
    if not measured.outcomes:
        raise InputError(
            f"{result}: no trial of it was measured, so there is nothing to publish; tare run {result} goes on"
        )
    paper = CitedPaper(
        title=options.title or f"Overheads against native execution: {measured.campaign}",
        authors=options.authors,
        licence=options.licence or "",
    )
    names = None if options.named else _names(result, measured)
    _write(output, _files(result, measured, paper, names))
    _say(output, names, options)
    return ExitCode.DONE


def _names(result: Path, measured: "Analysis") -> "Names":
    from tare.publication.anonymous import names_in

    return names_in(measured, json.loads(ResultFolder(result).read_campaign()))


def _files(result: Path, measured: "Analysis", paper: "CitedPaper", names: "Names | None") -> "Files":
    """All files of the folder; everything in words is written from the copy that the artifact holds."""
    from tare.publication.anonymous import copied
    from tare.publication.archive import json_bytes, packed
    from tare.publication.citation import citation_file

    kept = copied(ResultFolder(result), names)
    with scratch_folder("publish") as scratch:
        shown = _analysed(scratch / "result", kept)
    _require_same(measured, shown)
    shown = replace(shown, result="result", integrity=measured.integrity)
    texts = _texts(shown, paper)
    inside = {name: texts[name] for name in ("methods.md", "rules.md", "CITATION.cff")}
    if names is not None:
        inside["CITATION.cff"] = citation_file(replace(paper, authors=()), shown).encode()
    artifact = {
        **inside,
        **_evidence(shown, paper, names, kept[CAMPAIGN_FILE]),
        **{f"result/{name}": content for name, content in kept.items()},
    }
    _require_hidden(artifact, names)
    files = {**texts, **_figures(shown), ARTIFACT: packed("artifact", artifact)}
    if names is not None and names.hidden:
        files[KEY] = json_bytes({placeholder: real for real, placeholder in names.hidden.items()})
    return files


def _analysed(folder: Path, files: "Files") -> "Analysis":
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return measured_result(folder)


def _require_same(measured: "Analysis", shown: "Analysis") -> None:
    """``OutputError`` if what an unpacked artifact shows is not what the result shows."""
    from tare.report.exports import verdict_rows

    if verdict_rows(measured) != verdict_rows(shown) or len(measured.outcomes) != len(shown.outcomes):
        raise OutputError(
            "the artifact would not give the same answer as the result, so nothing is written; --named copies the "
            "result byte for byte, without placeholders for names"
        )


def _texts(analysis: "Analysis", paper: "CitedPaper") -> "Files":
    from tare.publication.citation import citation_file
    from tare.report import methods
    from tare.report.exports import to_latex, to_markdown, verdict_table
    from tare.report.rules_kept import rules_table

    paragraphs = methods.methods(analysis)
    verdicts, rules = verdict_table(analysis), rules_table(analysis)
    texts = {
        "methods.txt": methods.as_text(paragraphs),
        "methods.md": methods.as_markdown(paragraphs),
        "methods.tex": methods.as_latex(paragraphs),
        "rules.md": to_markdown(rules),
        "rules.tex": to_latex(rules),
        "verdicts.md": to_markdown(verdicts),
        "verdicts.tex": to_latex(verdicts),
        "CITATION.cff": citation_file(paper, analysis),
    }
    return {name: text.encode() for name, text in texts.items()}


def _evidence(analysis: "Analysis", paper: "CitedPaper", names: "Names | None", campaign: bytes) -> "Files":
    from tare.publication.archive import image_facts, json_bytes
    from tare.publication.readme import readme
    from tare.report.exports import to_csv, verdict_rows

    last = analysis.sessions[-1]
    image = image_facts(last.image_name, last.image_digest)
    sessions = [_session(dataclasses.asdict(session)) for session in analysis.sessions]
    return {
        "README.md": readme(
            analysis, paper, anonymous=names is not None, folders=_FOLDER in campaign
        ).encode(),
        "expected/verdicts.csv": to_csv(verdict_rows(analysis)).encode(),
        "environment.json": json_bytes({"sessions": sessions}),
        "image.json": json_bytes(image if names is None else names.value(image)),
    }


def _session(session: dict[str, Any]) -> Mapping[str, Any]:
    wanted = ("started_utc", "tare_version", "seed", "image_name", "image_digest", "host", "hosts")
    return {name: session[name] for name in wanted}


def _figures(analysis: "Analysis") -> "Files":
    """All figures in three formats; none without the renderer."""
    from tare.commands.export_figures import FIGURES, figure_files
    from tare.drawing.svg import can_draw

    if not can_draw():
        return {}
    try:
        files = [figure_files(analysis, kind) for kind in FIGURES]
    except InputError:  # nothing in it is complete
        return {}
    return {f"figures/{name}": content for own in reversed(files) for name, content in own.items()}


def _require_hidden(files: "Files", names: "Names | None") -> None:
    if names is None:
        return
    for name, content in files.items():
        if left := names.seen_in(content.decode(errors="replace")):
            raise OutputError(
                f"{name} of the artifact would still hold {', '.join(left)}, so nothing is written; --named writes it "
                "with all names"
            )


def _write(output: Path, files: "Files") -> None:
    try:
        output.mkdir()
        for name, content in files.items():
            path = output / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
    except FileExistsError:
        raise InputError(f"{output} is there already; choose another name, or remove it") from None
    except OSError as error:
        raise OutputError(f"cannot write {output}: {error.strerror}") from error


def _say(output: Path, names: "Names | None", options: PublishOptions) -> None:
    from tare.drawing.svg import can_draw
    from tare.drawing.words import counted

    print(f"{output}: methods, rules kept and verdicts as text for a paper; figures; CITATION.cff")
    print(
        f"{output / ARTIFACT}: for reviewers; unpacked, tare show gives the same answer as the result (checked)"
    )
    if names is not None:
        hidden = counted(len(names.hidden), "name")
        key = f"; {KEY} is the key, keep it to yourself" if names.hidden else ""
        print(f"anonymous: {hidden} of hosts, users, folders and addresses replaced{key}")
        print(
            "The campaign and its workloads keep the names that you gave them: read README.md before you submit."
        )
        if names.left:
            print(
                f"left as they are, since the result calls something of its own so: {', '.join(names.left)}"
            )
    if not can_draw():
        print("no figures: they take the extra \"pictures\": pip install 'tare[pictures]'")
    missing = [
        name for name, value in (("--author", options.authors), ("--licence", options.licence)) if not value
    ]
    if missing:
        print(f"not stated yet: {' and '.join(missing)}")
