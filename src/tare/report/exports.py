# SPDX-License-Identifier: Apache-2.0
"""A result as tables for other programs: CSV, Markdown and LaTeX. Figures are in the units that the rows name."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tare.analyze.qualification import qualification
from tare.drawing.words import interval_percent, point_percent
from tare.foreign import LONGEST, one_line
from tare.records import Analysis, Coordinate, Outcome, Sample, Verdict

Row = Mapping[str, object]
_LONGEST_TEXT = 20_000
"""Characters of a paragraph."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A text that begins so is a formula to a spreadsheet (OWASP, CSV injection)."""
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\N{MINUS SIGN}": "$-$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\le$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\ge$",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{MICRO SIGN}": r"\textmu{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def verdict_rows(analysis: Analysis) -> list[Row]:
    """One row for each verdict; overheads are fractions, empty where there is no interval."""
    return [_verdict_row(verdict) for verdict in analysis.verdicts]


def _verdict_row(verdict: Verdict) -> Row:
    summary, shown, typical = verdict.overhead.summary, verdict.shown, verdict.overhead.typical
    return {
        "workload": summary.cell.workload,
        "layout": summary.cell.layout,
        "environment": summary.environment,
        "metric": summary.metric,
        "unit": summary.unit,
        "direction": summary.direction.value,
        "primary": summary.primary,
        "overhead": shown.point,
        "low": shown.low,
        "high": shown.high,
        "level": shown.level,
        "released": verdict.released,
        "typical_run_only": qualification(verdict) is not None,
        "alone_low": typical.low,
        "alone_high": typical.high,
        "alone_level": typical.level,
        "n": shown.n,
        "verdict": verdict.word.value,
        "withheld": verdict.withheld.value if verdict.withheld else None,
        "claim": verdict.claim,
    }


def sample_rows(analysis: Analysis) -> Iterator[Row]:
    """One row for each sample, with all its coordinates; those of trials that do not count as well."""
    for outcome in analysis.outcomes:
        for sample in outcome.samples:
            yield _sample_row(outcome, sample)


def _sample_row(outcome: Outcome, sample: Sample) -> Row:
    trial = outcome.trial
    _, x, x_unit = sample.coordinates[0] if len(sample.coordinates) == 1 else (None, None, None)
    return {
        "block": trial.block,
        "slot": trial.slot,
        "workload": trial.workload.name,
        "layout": trial.setting,
        "environment": trial.environment.name,
        "replicate": trial.replicate,
        "status": outcome.status.value,
        "metric": sample.name,
        "value": sample.value,
        "unit": sample.unit,
        "direction": sample.direction.value,
        "instance": sample.instance,
        "iteration": sample.iteration,
        "round": sample.round,
        "x": x,
        "x_unit": x_unit,
        "coordinates": ", ".join(map(_coordinate, sample.coordinates)) or None,
    }


def _coordinate(each: Coordinate) -> str:
    """``"size=64 B"``."""
    return f"{each.name}={each.value:.17g}{f' {each.unit}' if each.unit else ''}"


def to_csv(rows: Iterator[Row] | Sequence[Row]) -> str:
    """RFC 4180 with a header; a missing value is empty. Nothing in it is a formula."""
    text = io.StringIO(newline="")
    writer = None
    for row in rows:
        if writer is None:
            writer = csv.DictWriter(text, list(row))
            writer.writeheader()
        writer.writerow({key: _plain(value) for key, value in row.items()})
    return text.getvalue()


def _plain(value: object) -> object:
    if isinstance(value, str):
        said = one_line(value)
        return f"'{said}" if said.startswith(_FORMULA) else said
    return "" if value is None else value


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of text; all columns but the last begin at the left up to ``left``, then end at the right."""

    columns: tuple[str, ...]
    rows: tuple[Sequence[str], ...]
    left: int = 3
    kinds: str = ""
    """LaTeX's columns where text must wrap; empty: by ``left``."""


def verdict_table(analysis: Analysis) -> TextTable:
    """One row for each verdict."""
    columns = ("environment", "where", "metric", "overhead in time", "interval", "n", "verdict")
    return TextTable(columns, tuple(_verdict_cells(analysis)))


def _verdict_cells(analysis: Analysis) -> Iterator[Sequence[str]]:
    for verdict in analysis.verdicts:
        summary, shown = verdict.overhead.summary, verdict.shown
        yield (
            summary.environment,
            f"{summary.cell.workload} on {summary.cell.layout}",
            summary.metric,
            point_percent(shown),
            interval_percent(shown),
            str(shown.n),
            verdict.claim,
        )


def to_markdown(table: TextTable) -> str:
    """GitHub-flavoured Markdown."""
    lines = [_markdown(table.columns), _markdown(["---"] * len(table.columns))]
    return "\n".join([*lines, *map(_markdown, table.rows)]) + "\n"


def _markdown(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escaped(cell, _markdown_character) for cell in cells)} |"


def _markdown_character(character: str) -> str:
    return f"\\{character}" if character in "\\|*_<>`[]" else character


def to_latex(table: TextTable) -> str:
    """A ``tabular`` with the rules of booktabs."""
    heads = [_latex(table.columns), r"\midrule"]
    kinds = table.kinds or f"{'l' * table.left}{'r' * (len(table.columns) - table.left - 1)}l"
    begin = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule"]
    end = [r"\bottomrule", r"\end{tabular}"]
    return (
        "\n".join(["% needs \\usepackage{booktabs}", *begin, *heads, *map(_latex, table.rows), *end]) + "\n"
    )


def _latex(cells: Sequence[str]) -> str:
    return f"{' & '.join(_escaped(cell, lambda each: _LATEX.get(each, each)) for cell in cells)} \\\\"


def markdown_text(text: str) -> str:
    """Text that Markdown prints as it is."""
    return _escaped(text, _markdown_character, _LONGEST_TEXT)


def latex_text(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return _escaped(text, lambda each: _LATEX.get(each, each), _LONGEST_TEXT)


def _escaped(text: str, escape: Callable[[str], str], most: int = LONGEST) -> str:
    return "".join(map(escape, one_line(text, most)))
