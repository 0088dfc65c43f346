# SPDX-License-Identifier: Apache-2.0
"""Contrast after WCAG 2.2: 4.5 for text, 3 for what a picture needs to be understood."""

import re
from importlib.resources import files

import pytest

from tare.drawing.marks import COLOURS

STYLE = files("tare.report").joinpath("templates/style.css").read_text(encoding="utf-8")
BLOCKS = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
LIGHT, DARK = (dict(re.findall(r"(--\w+): (#[0-9a-f]{6})", block)) for block in BLOCKS[:2])
TEXTS = ("--ink", "--soft", "--link", "--slower", "--faster", "--within", "--undecided")


def luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(words: str, other: str) -> float:
    low, high = sorted((luminance(words), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_formula_knows_its_two_ends() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == pytest.approx(1)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", TEXTS)
def test_every_text_can_be_read(scheme: dict[str, str], name: str) -> None:
    assert contrast(scheme[name], scheme["--paper"]) >= 4.5
    assert contrast(scheme[name], scheme["--sheet"]) >= 4.5


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["--control", *(f"--e{number}" for number in range(COLOURS))])
def test_every_mark_can_be_seen_on_paper_and_on_the_noise_floor(scheme: dict[str, str], name: str) -> None:
    assert contrast(scheme[name], scheme["--paper"]) >= 3
    assert contrast(scheme[name], scheme["--band"]) >= 3


def test_every_colour_that_is_used_is_defined_in_both_schemes() -> None:
    used = set(re.findall(r"var\((--\w+)\)", STYLE)) - {"--sans", "--mono"}
    assert used
    assert used <= set(LIGHT)
    assert set(DARK) == set(LIGHT)
