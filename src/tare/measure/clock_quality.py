# SPDX-License-Identifier: Apache-2.0
"""Tests of the nodes' clocks before any measurement: once per environment, setting and session."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tare.errors import NodeError
from tare.measure.context import Context
from tare.measure.inspection import idle_stopwatch
from tare.measure.protocol import nonsense
from tare.measure.ways import Ways
from tare.nodes.provider import Node, Provider
from tare.records import ClockQuality, Trial

FACT = "test of the clocks"
_READY_LIMIT_S = 30.0
_ADAPTER: TypeAdapter[ClockQuality] = TypeAdapter(ClockQuality)


def tested_clocks(
    context: Context, trial: Trial, provider: Provider, nodes: Sequence[Node], ways: Ways
) -> tuple[tuple[ClockQuality, ...], dict[str, str]]:
    """The quality of each node's clocks, or a fact if they could not be tested; empty if already tested."""
    key = trial.environment.name, trial.setting
    if key in context.tested_clocks:
        return (), {}
    context.tested_clocks.add(key)
    try:
        return tuple(_tested(provider, node, ways) for node in nodes), {}
    except NodeError as error:  # the trial can do without
        return (), {FACT: f"not possible: {error}"}


def _tested(provider: Provider, node: Node, ways: Ways) -> ClockQuality:
    with idle_stopwatch(provider, node, ways) as stopwatch:
        stopwatch.wait_ready(_READY_LIMIT_S)
        return quality_of(stopwatch.quality(), node.spec.index, own_clock=node.own_kernel)


def quality_of(said: Mapping[str, Any], node: int, *, own_clock: bool) -> ClockQuality:
    """The record of a stopwatch's report; ``NodeError`` if it makes no sense."""
    try:
        clocks = {
            clock["name"]: {key: value for key, value in clock.items() if key != "name"}
            for clock in said["clocks"]
        }
        return _ADAPTER.validate_python({**said, "clocks": clocks, "node": node, "own_clock": own_clock})
    except (ValidationError, LookupError, TypeError, AttributeError):
        raise nonsense(str(said).encode()) from None
