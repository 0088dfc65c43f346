# SPDX-License-Identifier: Apache-2.0
"""``tare export --format svg``, ``pdf`` and ``tikz``: a folder with each figure of the report as a file."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import InputError, OutputError

if TYPE_CHECKING:
    from tare.records import Analysis

FIGURES = ("svg", "pdf", "tikz")
"""Formats of figures."""
_ENDINGS = {"tikz": "tex"}
_CAPTIONS = "captions.txt"


def write_figures(analysis: "Analysis", folder: Path, kind: str) -> None:
    """Make the folder and write every figure into it, and a file with their captions.

    Raises ``InputError`` if the renderer is missing, if there is no figure, or if the folder is there already.
    """
    from tare.drawing.svg import can_draw

    if not can_draw():
        raise InputError(f"{kind} takes the extra \"pictures\": pip install 'tare[pictures]'")
    files = figure_files(analysis, kind)
    try:
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except FileExistsError:
        raise InputError(f"{folder} is there already; choose another name, or remove it") from None
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from error


def figure_files(analysis: "Analysis", kind: str) -> Mapping[str, bytes]:
    """Name → content of every figure, then of the captions; ``InputError`` if there is no figure."""
    from tare.report.figures import figures

    drawn, key = figures(analysis)
    if not drawn:
        raise InputError(f"{analysis.result} has no figure: nothing in it is complete")
    ending = _ENDINGS.get(kind, kind)
    files = {f"{figure.name}.{ending}": _content(figure.svg, kind) for figure in drawn}
    captions = [f"{figure.name}.{ending}\n  {figure.title}\n  {figure.description}\n" for figure in drawn]
    return {**files, _CAPTIONS: "\n".join([*captions, f"Marks: {key}\n"]).encode()}


def _content(svg: str, kind: str) -> bytes:
    from tare.drawing.svg import to_pdf
    from tare.drawing.tikz import to_tikz
    from tare.report.exports import latex_text

    if kind == "pdf":
        return to_pdf(svg)
    return (to_tikz(svg, latex_text) if kind == "tikz" else svg).encode()
