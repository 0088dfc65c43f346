# SPDX-License-Identifier: Apache-2.0
"""Durations and sizes as a campaign file writes them."""

import math
from collections.abc import Callable

from tare.plan.problems import shown
from tare.units import parse_duration_s

_MILLISECOND_S = 0.001
_LONGEST_S = 366 * 24 * 3600.0


def text_of(value: object, example: str) -> str:
    if not isinstance(value, str):
        raise ValueError(  # noqa: TRY004 - pydantic turns only ValueError into a finding
            f'must be text such as "{example}", but is {shown(value)}'
        )
    return value


def quantity(parse: Callable[[str], float], example: str) -> Callable[[object], float]:
    def validate(value: object) -> float:
        text = text_of(value, example)
        try:
            number = parse(text)
        except OverflowError:
            number = math.inf
        except ValueError as error:
            raise ValueError(_shortened(str(error))) from None
        if not number > 0:
            raise ValueError(f"{shown(text)} must be more than 0")
        return number

    return validate


def _shortened(message: str) -> str:
    longest = 160
    return message if len(message) <= longest else f"{message[:longest]}..."


def duration_s(value: object) -> float:
    duration_s = quantity(parse_duration_s, "10m")(value)
    if duration_s > _LONGEST_S:
        raise ValueError(f"{shown(value)} is more than a year")
    return duration_s


def whole_ms(value: object) -> float:
    """Require whole milliseconds, the kernel's unit of a route's minimum retransmission timeout (ip-route(8))."""
    length_s = duration_s(value)
    if length_s < _MILLISECOND_S or not math.isclose(length_s * 1000, round(length_s * 1000)):
        raise ValueError(f"{shown(value)} is no whole number of milliseconds, which the kernel counts in")
    return length_s
