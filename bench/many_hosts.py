# SPDX-License-Identifier: Apache-2.0
"""What many hosts cost the runner: 1, 4, 16 and 64 simulated ones with 8 nodes each, all on this host.

    python -m bench.many_hosts [--hosts 1 4 16 64] [--nodes 8] [--rounds 3] [--image 1] [--json]  (after a build)

A simulated host is Tare's agent without ssh, with a state folder of its own; a node is of the fake environment, which
starts nothing. So the times of connecting, starting and stopping are what the far sides of all hosts together take on
this one; the runner's CPU time (its own process, user and system) is what this bench is for, and it must not grow
faster than n log n. ``exponent`` is the slope of log(CPU) over log(hosts), beside that of n log n at the same sizes.
Each figure is the least of all rounds. All files are in memory: real hosts do not wait for each other in one file
system. Ends with 1 if a phase of more than 50 ms grows faster.

The hosts pass the image on to each other over the loopback. ``transfers``: how many there were in a row until the last
host had it, beside the 1 + log2(hosts) of a perfect tree; here the hosts share two processors, so that some are late.
"""

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tare.environments import PROVIDERS
from tare.environments.ssh.code import archive
from tare.host.facts import online_processors
from tare.image.digest import digest, list_tree
from tare.measure.at_once import at_once
from tare.measure.context import Context
from tare.measure.hosts import connected, on_host, reach
from tare.measure.ready import carrying
from tare.measure.running import NodeTimes, running_nodes
from tare.measure.trial import run_trial
from tare.plan.campaign import Campaign
from tare.plan.trials import plan_trials
from tare.records import Carried, Environment, Layout, Limits, NamedHost, Status, Trial, Workload
from tare.units import MEBIBYTE

TOOLS = Path(__file__).resolve().parents[1] / "build" / "native" / "bin"
_IN_MEMORY = "/dev/shm"  # noqa: S108 - in folders of its own
_LOOPBACK = "127.0.0.0/8"
_LEAST_CPU_S = 0.05
"""Below it a fit would be of noise."""


@dataclass
class Phases:
    """Phase → wall and CPU time of the runner, in s."""

    wall_s: dict[str, list[float]] = field(default_factory=dict)
    cpu_s: dict[str, list[float]] = field(default_factory=dict)
    carried: dict[str, Carried] = field(default_factory=dict)
    """Host → how the image came to it."""

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        wall_s, cpu_s = time.monotonic(), time.process_time()
        yield
        self.wall_s.setdefault(phase, []).append(time.monotonic() - wall_s)
        self.cpu_s.setdefault(phase, []).append(time.process_time() - cpu_s)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--nodes", type=int, default=8, help="on each host")
    parser.add_argument("--rounds", type=int, default=3, help="starts of all nodes")
    parser.add_argument("--image", type=int, default=1, help="its size in MiB")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    archive()  # once in a process, whatever the number of hosts
    measured = {
        count: phases_of(count, chosen.nodes, chosen.rounds, chosen.image * MEBIBYTE)
        for count in chosen.hosts
    }
    rows = [row(phase, measured, chosen.nodes) for phase in measured[chosen.hosts[0]].cpu_s]
    ways = [image_ways(phases.carried) for phases in measured.values()]
    if chosen.json:
        print(json.dumps({"schema": 1, "nodes_per_host": chosen.nodes, "phases": rows, "image": ways}))
    else:
        show(rows, chosen.hosts)
        for way in ways:
            print("image: " + ", ".join(f"{name} {figure:g}" for name, figure in way.items()))
    sys.exit(any(is_worse(each) for each in rows))


def image_ways(carried: dict[str, Carried]) -> dict[str, float]:
    """From whom the hosts got the image, and how many transfers it took in a row."""
    return {
        "hosts": len(carried),
        "sent from here": sum(way.source is None for way in carried.values()),
        "transfers": max(way.transfers for way in carried.values()),
        "of a perfect tree": 1 + math.ceil(math.log2(len(carried))),
        "last_s": round(max(way.wall_s for way in carried.values()), 2),
    }


def phases_of(hosts: int, nodes: int, rounds: int, image_byte: int) -> Phases:
    """All phases with this many hosts; the image is a folder with one file."""
    phases = Phases()
    with tempfile.TemporaryDirectory(prefix="tare-hosts-", dir=_IN_MEMORY) as folder:
        os.environ["TARE_STATE"] = f"{folder}/runner"
        root = Path(folder) / "image"
        root.mkdir()
        (root / "file").write_bytes(os.urandom(image_byte))
        named = [NamedHost(name=f"h{each}", state=f"{folder}/h{each}") for each in range(hosts)]
        campaign = campaign_of(named, nodes)
        with phases.timed("plan"):
            trials = plan_trials(campaign, seed=1)
        with ExitStack() as stack:
            stack.enter_context(connected(named))
            with phases.timed("connect"):
                context = context_of(named, root, Path(folder))
            forms = [on_host(campaign.environments[0], host) for host in named]
            with phases.timed("carry"), carrying(named, _LOOPBACK, context.image_digest) as spread:
                at_once(lambda form: prepare(form, context), forms)
            assert spread.remarks == []
            phases.carried = spread.carried
            roots = list(Path(folder).glob("h*/images/carried-*/rootfs"))
            assert [digest(list_tree(each)) for each in roots] == [context.image_digest] * hosts
            trial = next(trial for trial in trials if trial.environment.technology == "fake")
            for _ in range(rounds):
                one_start(phases, context, trial)
                whole_trial(phases, context, trial)
            with phases.timed("close"):
                stack.close()
    return phases


def prepare(form: Environment, context: Context) -> None:
    PROVIDERS[form.technology].configured(form.options).prepare(context.image_root, context.image_digest)


def one_start(phases: Phases, context: Context, trial: Trial) -> None:
    """Place, start and stop all nodes of a trial."""
    with phases.timed("place"):
        specs = context.node_specs(trial, context.places_of(trial).measured)
    times, wall_s, cpu_s = NodeTimes(), time.monotonic(), time.process_time()
    with running_nodes(specs, PROVIDERS, times) as nodes:
        phases.wall_s.setdefault("start", []).append(time.monotonic() - wall_s)
        phases.cpu_s.setdefault("start", []).append(time.process_time() - cpu_s)
        assert len(nodes) == len(specs)
        wall_s, cpu_s = time.monotonic(), time.process_time()
    phases.wall_s.setdefault("stop", []).append(time.monotonic() - wall_s)
    phases.cpu_s.setdefault("stop", []).append(time.process_time() - cpu_s)
    assert times.problems == []


def whole_trial(phases: Phases, context: Context, trial: Trial) -> None:
    """All that a trial is, with a command in each node; the first one also tests the clocks."""
    with phases.timed("whole trial"):
        outcome = run_trial(context, trial)
    assert outcome.status is Status.OK, outcome.reason


def campaign_of(named: Sequence[NamedHost], nodes: int) -> Campaign:
    count = len(named) * nodes
    return Campaign(
        name="many-hosts",
        environments=(Environment(name="fake", technology="fake", options={"tools": str(TOOLS)}),),
        layouts=(Layout.parse(f"{count}c1p{count}i on {len(named)}"),),
        workloads=(Workload(name="command", kind="command", options={"argv": ["true"]}),),
        limits=Limits(memory_byte=count * 16 * MEBIBYTE, shm_byte=MEBIBYTE, time_s=600.0),
        margin=0.05,
        blocks=20,
        budget_s=None,
        seed=1,
        hosts=tuple(named),
    )


def context_of(named: Sequence[NamedHost], root: Path, raw: Path) -> Context:
    return Context(
        image_root=root,
        image_digest=digest(list_tree(root)),
        raw_directory=raw,
        available_processors=online_processors(),
        hosts=reach(named),
    )


def row(phase: str, measured: dict[int, Phases], nodes: int) -> dict[str, object]:
    """A phase's figures by number of hosts, and how its CPU time grows from where it can be told."""
    cpu_s = {count: min(phases.cpu_s[phase]) for count, phases in measured.items()}
    wall_s = {count: min(phases.wall_s[phase]) for count, phases in measured.items()}
    measurable = {count: seconds for count, seconds in cpu_s.items() if seconds >= _LEAST_CPU_S}
    few = len(measurable) < 2  # noqa: PLR2004 - a slope needs two
    return {
        "phase": phase,
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "exponent": None if few else slope(measurable),
        "n_log_n": None if few else slope({count: n_log_n(count * nodes) for count in measurable}),
    }


def n_log_n(count: int) -> float:
    return count * math.log2(count + 1)


def slope(values: dict[int, float]) -> float:
    """Of the logarithms, by least squares."""
    fitted = statistics.linear_regression(list(map(math.log, values)), list(map(math.log, values.values())))
    return fitted.slope


def is_worse(each: dict[str, object]) -> bool:
    grows, most = each["exponent"], each["n_log_n"]
    return isinstance(grows, float) and isinstance(most, float) and grows > most


def show(rows: Sequence[dict[str, object]], hosts: Sequence[int]) -> None:
    print("wall / CPU of the runner (s)  " + "  ".join(f"{count:>5} hosts  " for count in hosts) + "exponent")
    for each in rows:
        wall_s, cpu_s = each["wall_s"], each["cpu_s"]
        assert isinstance(wall_s, dict)
        assert isinstance(cpu_s, dict)
        figures = "  ".join(f"{wall_s[count]:6.2f}/{cpu_s[count]:6.3f}" for count in hosts)
        grows = each["exponent"]
        text = "too little to tell" if grows is None else f"{grows:.2f} (n log n: {each['n_log_n']:.2f})"
        print(f"{each['phase']:<28}  {figures}  {text}")


if __name__ == "__main__":
    main()
