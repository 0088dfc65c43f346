# SPDX-License-Identifier: Apache-2.0
"""``--fail-if "docker overhead > 2%"``: from the user's words to a condition."""

import difflib
import re
from collections.abc import Sequence

from tare.plan.problems import nearest, shown
from tare.records import NATIVE, FailIf

_CONDITION = re.compile(
    r"(?P<what>.*?)\boverhead\s*>\s*(?P<percent>[-+]?\d{1,6}(?:\.\d{1,6})?)\s*%", re.ASCII
)
_METRIC = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_EXAMPLE = 'write such as "overhead > 2%", "docker overhead > 2%" or "docker wall_s overhead > 2%"'
_LEAST_PERCENT = -100.0
_MOST_NAMES = 2


def parse_fail_if(text: str, environments: Sequence[str]) -> FailIf:
    """Parse ``[ENVIRONMENT] [METRIC] overhead > NUMBER%``; the ``ValueError`` says what is wrong.

    ``environments`` are the campaign's: a single word outside them is a metric.
    """
    match = _CONDITION.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{shown(text)} is no condition; {_EXAMPLE}")
    percent = float(match["percent"])
    if percent <= _LEAST_PERCENT:
        raise ValueError(f"{shown(text)}: no overhead is below -100 %")
    names = match["what"].replace(":", " ").split()
    if len(names) > _MOST_NAMES:
        raise ValueError(f"{shown(text)} names more than an environment and a metric; {_EXAMPLE}")
    environment, metric = _named(names, environments)
    return FailIf(text=text.strip(), threshold=percent / 100, environment=environment, metric=metric)


def _named(names: Sequence[str], environments: Sequence[str]) -> tuple[str | None, str | None]:
    """The environment and the metric that the words name."""
    if not names:
        return None, None
    if names[0] in environments:
        return names[0], _metric(names[1]) if len(names) == _MOST_NAMES else None
    alike = difflib.get_close_matches(names[0], environments, n=1, cutoff=0.75)
    if len(names) == _MOST_NAMES or alike or names[0] == NATIVE:
        raise ValueError(
            f"the campaign has no environment {shown(names[0])}{nearest(names[0], environments)}"
        )
    return None, _metric(names[0])


def _metric(name: str) -> str:
    if not _METRIC.fullmatch(name):
        raise ValueError(f"{shown(name)} is no name of a metric")
    return name
