# SPDX-License-Identifier: Apache-2.0
"""Commands that run wild, as trials: in nodes of few processes alone, so that they stay there whatever fails."""

from dataclasses import replace
from pathlib import Path

from tare.image.store import Image
from tare.measure.context import Context
from tare.measure.parity import expected_parity
from tare.measure.trial import run_trial
from tare.nodes.provider import Provider
from tare.records import USUAL_BOUNDS, Bounds, Environment, Layout, Limits, Outcome, Storage, Trial
from tests.fake_campaign import command_workload

MEBIBYTE = 1 << 20
SANDBOXES = {"gvisor"}
"""Each process of their nodes takes much of the node's memory, so that its limit may be the first."""
FEW = replace(USUAL_BOUNDS, processes=64)
TREE = "b() { b | b & }; b; exec sleep 60"
"""Every process starts two, all in one process group; the first needs none more to stay."""
SESSIONS = """
import os, resource, time
print(resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_NOFILE), flush=True)
while True:
    try:
        if not os.fork():
            os.setsid()
    except OSError:
        time.sleep(0.01)
"""
"""Every process starts others for ever, each in a session of its own, which no signal to a group reaches."""
CHAIN = """
import os, time
if os.fork():
    time.sleep(60)
while True:
    try:
        if os.fork():
            os._exit(0)
        os.setsid()
        for _ in range(2):
            if not os.fork():
                break
    except OSError:
        pass
"""
"""Every process lives a moment, and most of them hand over to others."""
_SCRIPTS = {"sessions": SESSIONS, "chain": CHAIN}


def bomb(name: str, mark: str) -> tuple[str, ...]:
    """The command; ``mark`` is in the command line of each of its processes."""
    if name == "tree":
        return ("/bin/sh", "-c", TREE, mark)
    return ("/usr/bin/python3", "-c", _SCRIPTS[name], mark)


def at_large(mark: str) -> list[int]:
    """Process ids, on the host, of what has ``mark`` in its command line."""
    collected = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0"):
                collected.append(int(path.parent.name))
        except OSError:
            continue
    return collected


def ready(context: Context, image: Image, provider: Provider, bounds: Bounds = FEW) -> Context:
    """A session in which this provider alone is there, and equal arms are expected."""
    return replace(
        context,
        image_root=image.root,
        image_digest=image.digest,
        providers={provider.technology: provider},
        expected=expected_parity("test", bounds),
    )


def run(
    context: Context,
    *argv: str,
    time_s: float = 3.0,
    memory_byte: int = 192 * MEBIBYTE,
    bounds: Bounds = FEW,
    storage: Storage = Storage.TMPFS,
) -> Outcome:
    (provider,) = context.providers.values()
    environment = Environment(
        name="e", technology=provider.technology, options=getattr(provider, "options", {})
    )
    trial = Trial(
        identity="b000-t",
        block=0,
        slot=0,
        environment=environment,
        replicate=0,
        layout=Layout(nodes=1, processors=1, instances=1),
        workload=command_workload(*argv),
        limits=Limits(
            memory_byte=memory_byte, shm_byte=MEBIBYTE, time_s=time_s, bounds=bounds, storage=storage
        ),
    )
    return run_trial(context, trial)
