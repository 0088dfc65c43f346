# SPDX-License-Identifier: Apache-2.0
"""One real trial in an environment, as in a campaign: start, limits, enter, run, stop."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tare.host.cgroups import remove_parent_if_empty
from tare.host.facts import online_processors
from tare.host.scratch import scratch_folder
from tare.image import Image, find_image, in_use
from tare.measure.clean import clean_up
from tare.measure.context import Context
from tare.measure.guardian import guarded
from tare.measure.lock import host_lock, tools_lock
from tare.measure.machine_lock import machine_lock
from tare.measure.session import interruptible
from tare.measure.trial import run_trial
from tare.nodes.provider import Probe, Provider
from tare.records import Environment, Layout, Limits, Outcome, Status, Trial, Workload
from tare.units import MEBIBYTE, format_duration

_LIMITS = Limits(memory_byte=256 * MEBIBYTE, shm_byte=16 * MEBIBYTE, time_s=10.0)
_WORKLOAD = Workload(name="burn", kind="command", options={"argv": ["{tools}/burn", "1000"]})


@contextmanager
def held_for_trying() -> Iterator[Callable[[Provider], Probe]]:
    """Hold the host like a run, and yield a function that tries a node; may raise ``LockedError`` or ``ImageError``."""
    with ExitStack() as stack:
        stack.enter_context(interruptible())
        lock = stack.enter_context(host_lock("doctor"))
        stack.callback(remove_parent_if_empty)
        stack.enter_context(guarded(lock))
        for kept in clean_up().kept:
            print(f"warning: {kept.sentence}", file=sys.stderr)
        if remark := stack.enter_context(machine_lock()):
            print(remark, file=sys.stderr)
        stack.enter_context(tools_lock())
        image = find_image()
        stack.enter_context(in_use(image))
        folder = stack.enter_context(scratch_folder("doctor"))
        yield lambda provider: _try(provider, image, folder)


def _try(provider: Provider, image: Image, folder: Path) -> Probe:
    provider.prepare(image.root, image.digest)
    name = provider.technology
    context = Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=folder,
        available_processors=online_processors(),
        providers={name: provider},
    )
    outcome = run_trial(context, _trial(name))
    if outcome.status is Status.OK:
        return Probe(usable=True, version=_times(outcome))
    said = ": ".join(filter(None, (outcome.reason, outcome.excerpt)))
    return Probe(usable=False, reason=said, remedy="correct what it says, then try again")


def _trial(technology: str) -> Trial:
    return Trial(
        identity=f"doctor-{technology}",
        block=0,
        slot=0,
        environment=Environment(name=technology, technology=technology),
        replicate=0,
        layout=Layout(nodes=1, processors=1, instances=1),
        workload=_WORKLOAD,
        limits=_LIMITS,
    )


def _times(outcome: Outcome) -> str:
    times = {"up in": outcome.node_start_s, "down in": outcome.node_stop_s}
    return ", ".join(
        f"{words} {format_duration(time_s)}" for words, time_s in times.items() if time_s is not None
    )
