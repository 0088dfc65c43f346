# SPDX-License-Identifier: Apache-2.0
"""A picture of Tare's as TikZ: the same places, colours and words."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.drawing.svg_paths import segments
from tare.drawing.tikz import to_tikz
from tare.report.exports import latex_text

SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="100" height="50" fill="none">
<g transform="translate(10,5)"><line transform="translate(1,2)" x2="-3" y2="0" stroke="#e6e9ec"
stroke-dasharray="4,2" />
<path d="M0,0h10v5h-10Z" fill="#0b62a8" opacity="0.5" /><path d="" stroke="#000" />
<rect width="4" height="2" fill="#fff" />
<text transform="translate(7,8) rotate(-90)" text-anchor="middle" font-size="11px" fill="#1b2026">50 % &amp; a_b</text>
<g display="none"><text>hidden</text></g></g></svg>"""


def test_lines_areas_and_words_are_where_they_were() -> None:
    lines = to_tikz(SVG, latex_text).splitlines()
    assert (
        r"\path[draw=tare0, line width=0.75bp, dash pattern=on 3bp off 1.5bp] (11.00,7.00) -- (8.00,7.00);"
        in lines
    )
    assert (
        r"\path[fill=tare1, opacity=0.5] (10.00,5.00) -- (20.00,5.00) -- (20.00,10.00) -- (10.00,10.00) -- cycle;"
        in lines
    )
    (node,) = (line for line in lines if line.startswith(r"\node"))
    assert "anchor=base, " in node
    assert "rotate=90" in node
    assert node.endswith(r"at (17.00,13.00) {50 \% \& a\_b};")
    assert r"\definecolor{tare0}{HTML}{E6E9EC}" in lines
    assert "hidden" not in "".join(lines)


@given(st.floats(1, 100), st.floats(-3, 3), st.floats(0.1, 6), st.booleans())
def test_an_arc_stays_on_its_circle(radius: float, first: float, swept: float, clockwise: bool) -> None:
    swept = swept if clockwise else -swept
    (x, y), (end_x, end_y) = (
        (radius * math.cos(angle), radius * math.sin(angle)) for angle in (first, first + swept)
    )
    large = int(abs(swept) > math.pi)
    text = f"M{x:.9f},{y:.9f}A{radius:.9f},{radius:.9f},0,{large},{int(clockwise)},{end_x:.9f},{end_y:.9f}"
    start, *pieces = segments(text)
    assert start.kind == "M"
    for piece in pieces:
        assert piece.kind in "CL"
        assert math.hypot(*piece.points[-1]) == pytest.approx(radius, rel=1e-3, abs=1e-3)
    assert pieces[-1].points[-1] == pytest.approx((end_x, end_y), rel=1e-5, abs=1e-5)


def test_relative_and_quadratic_commands_become_absolute_lines_and_curves() -> None:
    said = [(each.kind, each.points) for each in segments("m1,1l2,0 0,2Q9 9 3 9z")]
    assert said[:3] == [("M", ((1, 1),)), ("L", ((3, 1),)), ("L", ((3, 3),))]
    assert [kind for kind, _ in said[3:]] == ["C", "Z"]
    assert said[3][1][-1] == (3, 9)


def test_a_path_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="no path of Tare's"):
        list(segments("M0,0 T1,1"))


def test_every_command_of_it_is_of_tikz_itself() -> None:
    words = set(re.findall(r"\\([a-z]+)", to_tikz(SVG, latex_text)))
    assert words <= {"usepackage", "begin", "end", "definecolor", "path", "node", "fontsize", "selectfont"}
