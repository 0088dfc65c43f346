# SPDX-License-Identifier: Apache-2.0
"""The minimum TCP retransmission timeout of a guest's link: a setting of its route, made inside by ip-route(8)."""

import math
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from tare.errors import NodeError
from tare.host import process
from tare.host.told import told

_INTERFACE = "eth0"
_LIMIT_S = 30.0


class Route(TypedDict):
    """One entry of ``ip -json route show``."""

    metrics: NotRequired[list[dict[str, Any]]]


def set_rto_min(prefix: Sequence[str], subnet: str, address: str, rto_min_s: float) -> None:
    """Set it on the kernel's own route to ``subnet``, and read it back; ``NodeError`` if it did not take effect."""
    rto_min_ms = whole_ms(rto_min_s)
    route = [subnet, "dev", _INTERFACE, "proto", "kernel", "scope", "link", "src", address]
    process.run_checked(
        [*prefix, "ip", "route", "replace", *route, "rto_min", f"{rto_min_ms}ms"], timeout_s=_LIMIT_S
    )
    shown = process.run_checked([*prefix, "ip", "-json", "route", "show", subnet], timeout_s=_LIMIT_S).stdout
    if rto_min_ms not in kept_ms(shown):
        raise NodeError(
            f"the guest's route does not keep rto_min = {rto_min_ms} ms; leave rto_min out with this kernel"
        )


def whole_ms(rto_min_s: float) -> int:
    """The timeout in the kernel's unit: whole milliseconds, at least 1."""
    whole = round(rto_min_s * 1000)
    if whole < 1 or not math.isclose(whole, rto_min_s * 1000):
        raise NodeError(
            f"rto_min is {rto_min_s * 1000:g} ms, but the kernel counts in whole milliseconds from 1"
        )
    return whole


def kept_ms(shown: str) -> list[int]:
    """The timeouts in the JSON of ``ip route show``."""
    routes = told(list[Route], shown or "[]", "ip route show")
    metrics = [metric for route in routes for metric in route.get("metrics", [])]
    return [metric["rto_min"] for metric in metrics if "rto_min" in metric]
