# SPDX-License-Identifier: Apache-2.0
"""Instances of which an MPI program uses a part: fewer processes than it has processors, the others idle."""

from collections.abc import Mapping
from dataclasses import replace

from tare.errors import InputError
from tare.workloads.kind import Options, Shape


def part_used(options: Options, shape: Shape) -> Shape:
    """The shape that the program is to see: with its ``ranks``, if it has this option.

    Raises ``InputError`` if it has fewer processors than that, or nodes that cannot have equal shares of the ranks.
    """
    ranks: int | None = getattr(options, "ranks", None)
    if ranks is None:
        return shape
    threads: int = getattr(options, "threads", 1)
    nodes = 1 if shape.span is None else len(shape.span.hosts)
    if ranks * threads > shape.processors:
        raise InputError(
            f"ranks = {ranks}{f' of {threads} threads' if threads > 1 else ''} need more than the {shape.processors} "
            "processors of an instance; give fewer, or a layout with more"
        )
    if ranks % nodes:
        raise InputError(
            f"ranks = {ranks} cannot be shared equally by the {nodes} nodes that an instance spans; give a multiple"
        )
    return replace(shape, processors=ranks * threads)


def idle_facts(options: Options, shape: Shape) -> Mapping[str, str]:
    """How many processors it leaves idle; empty if none."""
    used = part_used(options, shape).processors
    if used == shape.processors:
        return {}
    return {"processors in use": f"{used} of {shape.processors} of each instance; the others idle"}
