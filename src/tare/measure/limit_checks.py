# SPDX-License-Identifier: Apache-2.0
"""Comparing what was asked for with what was found; ``NodeError`` names the limit that does not hold."""

from tare.errors import NodeError


def same(what: str, wanted: object, found: object) -> None:
    if wanted != found:
        raise NodeError(f"the node's limits do not hold: {what} should be {wanted} and are {found}")


def near(what: str, wanted: float | None, found: float | None, tolerance: float) -> None:
    if wanted is None or found is None:
        same(what, wanted, found)
    elif abs(wanted - found) > tolerance:
        raise NodeError(f"the node's limits do not hold: {what} should be {wanted} and is {found}")
