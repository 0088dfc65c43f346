# SPDX-License-Identifier: Apache-2.0
"""A report without the library that draws its pictures says where they would be."""

import pytest

from tare.drawing import svg
from tare.drawing.svg import Picture


def test_without_the_renderer_a_sentence_takes_the_pictures_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svg, "find_spec", lambda name: None if name == "vl_convert" else name)
    said = svg.render({}, Picture(identity="a", title="<Overheads>", description="", classes="wide"))
    assert said.startswith('<p class="chart wide">&lt;Overheads&gt;: a picture, which needs the extra')
    assert 'pip install "tare[pictures]"' in said
