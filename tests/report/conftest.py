# SPDX-License-Identifier: Apache-2.0
"""A picture that several tests of a process look at is drawn once."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import vl_convert


@pytest.fixture(scope="session", autouse=True)
def drawn_once() -> Iterator[None]:
    """Equal descriptions have equal pictures: two of three were drawn for an earlier test already."""
    drawn: dict[str, str] = {}
    draw = vl_convert.vegalite_to_svg

    def once(specification: dict[str, Any]) -> str:
        key = json.dumps(specification)
        if key not in drawn:
            drawn[key] = draw(specification)
        return drawn[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vl_convert, "vegalite_to_svg", once)
        yield
