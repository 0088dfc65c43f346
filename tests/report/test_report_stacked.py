# SPDX-License-Identifier: Apache-2.0
"""Cells that know their column's heading, for screens on which a table is shown row by row."""

import re

from tare.report.document import render_report
from tare.report.stacked import stackable
from tests.report.report_example import several_cells

HEAD = '<thead><tr><th scope="col">name</th><th scope="col">typical<br>overhead</th><th scope="col"></th></tr></thead>'


def body(rows: str) -> str:
    return stackable(f"<p>before</p><table>{HEAD}<tbody>{rows}</tbody></table>").split("<tbody>")[1]


def test_each_cell_of_a_row_gets_the_heading_of_its_column_without_markup() -> None:
    assert body('<tr><th scope="row">a</th><td class="n">1</td><td>2</td></tr>') == (
        '<tr><th scope="row">a</th><td data-label="typical overhead" class="n">1</td><td>2</td></tr>'
        "</tbody></table>"
    )


def test_a_row_below_a_spanning_name_counts_its_cells_from_the_end() -> None:
    assert '<td data-label="typical overhead">1</td>' in body("<tr><td>1</td><td>2</td></tr>")


def test_a_heading_over_a_group_of_rows_and_a_table_without_headings_stay_as_they_are() -> None:
    group = '<tr><th colspan="3" scope="rowgroup">all</th></tr>'
    assert group in body(group)
    plain = "<table><tbody><tr><td>1</td></tr></tbody></table>"
    assert stackable(plain) == plain


def test_every_figure_of_the_page_has_a_label_once() -> None:
    page = render_report(several_cells())
    figures = re.findall(r'<td[^>]*class="number"[^>]*>', page)
    assert len(figures) > 50
    assert all(cell.count("data-label=") == 1 for cell in figures)
