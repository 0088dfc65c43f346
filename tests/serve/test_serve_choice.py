# SPDX-License-Identifier: Apache-2.0
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.serve.choice import LONGEST, ViewChoice

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20).map(str.strip)
NUMBERS = st.integers(1, 10**6)


@given(
    choice=st.builds(
        ViewChoice,
        environment=TEXTS,
        workload=TEXTS,
        layout=TEXTS,
        metric=TEXTS,
        block=st.none() | st.integers(0, 10**6),
        point=TEXTS,
        trial=TEXTS,
        page=NUMBERS,
        rows=NUMBERS,
        parts=TEXTS,
    )
)
def test_an_address_holds_all_that_was_chosen(choice: ViewChoice) -> None:
    assert ViewChoice.of(dict(parse_qsl(choice.query().removeprefix("?")))) == choice


@pytest.mark.parametrize("number", ["x", "-1", "1.5", "\N{SUPERSCRIPT TWO}", "9" * 30, "0x10"])
def test_what_is_no_number_is_refused(number: str) -> None:
    with pytest.raises(ValueError, match="whole number"):
        ViewChoice.of({"page": number})


def test_a_text_has_a_limit_and_what_is_unknown_is_left_out() -> None:
    with pytest.raises(ValueError, match="too long"):
        ViewChoice.of({"environment": "a" * (LONGEST + 1)})
    assert ViewChoice.of({"nosuch": "x", "token": "y"}) == ViewChoice()


@given(
    parts=st.lists(st.sampled_from(["curves", "factors", "sharing", "order"]), unique=True),
    part=st.just("order"),
)
def test_a_part_that_is_opened_and_closed_again_leaves_the_others_as_they_were(
    parts: list[str], part: str
) -> None:
    choice = ViewChoice(parts=".".join(parts))
    once = ViewChoice(parts=choice.toggled(part))
    assert once.shows(part) != choice.shows(part)
    again = ViewChoice(parts=once.toggled(part))
    assert {name for name in again.parts.split(".") if name} == set(parts)
