# SPDX-License-Identifier: Apache-2.0
"""The nodes of a trial while it runs: recorded before anything is made, stopped and forgotten whatever happens."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

from tare.host.process import USUAL_UMASK
from tare.measure.at_once import in_two_steps
from tare.measure.unforeseen import in_words
from tare.node_life import start_recorded, stop_node
from tare.nodes.provider import Node, NodeSpec, Provider
from tare.nodes.record import write_down


@dataclass(slots=True, kw_only=True)
class NodeTimes:
    """How long the nodes of a trial took to start and stop; ``None`` until they have."""

    start_s: float | None = None
    stop_s: float | None = None
    problems: list[str] = field(default_factory=list)
    """Problems while stopping: the measurement is valid, the leftovers are named."""


@contextmanager
def running_nodes(
    specs: list[NodeSpec], providers: Mapping[str, Provider], times: NodeTimes
) -> Iterator[list[Node]]:
    """Start all nodes, and stop them whatever happens in between, in reverse order."""
    with ExitStack() as stack:
        stack.callback(_note_stop, times)
        begun = time.monotonic()
        if all(_is_independent(spec, providers) for spec in specs):
            nodes = stack.enter_context(_started_at_once(specs, providers, times))
        else:
            nodes = []
            for spec in specs:
                provider = providers[spec.technology]
                write_down(spec)
                stack.callback(_stop_noting_problems, spec, provider, times)
                nodes.append(start_recorded(spec, provider))
        times.start_s = time.monotonic() - begun
        stack.callback(_note_stop_begin, times)
        yield nodes


def _is_independent(spec: NodeSpec, providers: Mapping[str, Provider]) -> bool:
    """Whether it can start at the same time as others: one that uses another's work directory is after that one."""
    return providers[spec.technology].starts_at_once and spec.shared_work is None


@contextmanager
def _started_at_once(
    specs: list[NodeSpec], providers: Mapping[str, Provider], times: NodeTimes
) -> Iterator[list[Node]]:
    """As one after the other, but at the same time: all starts end before the first stop, also after a failed one."""
    recorded: list[NodeSpec] = []
    try:
        for spec in specs:
            write_down(spec)
            recorded.append(spec)
        before = os.umask(
            USUAL_UMASK
        )  # of the whole process: the starts set it and set it back at the same time
        try:
            nodes = in_two_steps(
                lambda spec: providers[spec.technology].begin_start(spec),
                lambda spec: start_recorded(spec, providers[spec.technology]),
                specs,
            )
        finally:
            os.umask(before)
        yield nodes
    finally:
        in_two_steps(
            lambda spec: _begin_stop(spec, providers[spec.technology]),
            lambda spec: _stop_noting_problems(spec, providers[spec.technology], times),
            recorded,
        )


def _note_stop_begin(times: NodeTimes) -> None:
    times.stop_s = -time.monotonic()


def _note_stop(times: NodeTimes) -> None:
    if times.stop_s is not None:
        times.stop_s += time.monotonic()


def _begin_stop(spec: NodeSpec, provider: Provider) -> None:
    with suppress(Exception):  # whatever it was, the stop itself is tried, and names what fails
        provider.begin_stop(spec)


def _stop_noting_problems(spec: NodeSpec, provider: Provider, times: NodeTimes) -> None:
    try:
        stop_node(spec, provider)
    except KeyboardInterrupt:
        _stop_noting_problems(spec, provider, times)  # repeated: the interrupted stop may be half done
        raise
    except Exception as error:  # noqa: BLE001 - the others must be stopped, and the measurement stands
        times.problems.append(f"{spec.name} did not stop cleanly: {in_words(error)}")
