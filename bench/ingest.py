# SPDX-License-Identifier: Apache-2.0
"""What a large journal costs: once, when it is condensed, and at every later command that reads it.

    python -m bench.ingest [--trials 100000] [--samples 10] [--rounds 3] [--before PATH]        (9 KB of disk a trial)

Writes a journal as a campaign of short commands leaves it: each trial with its samples, 57 signals, its resources and
what was told of its node. A process of its own then reads it from nothing (the columns are removed before), and another
one reads it again; printed are CPU seconds with all imports, and the peak of memory, as medians of the rounds. With
``--before`` the same is asked of another checkout of Tare in turn. All have to read what the journal's own lines say.
"""

import argparse
import itertools
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from bench.children import Took, printed, took
from tare.journal.lines import first_link, seal
from tare.journal.result import ResultFolder
from tare.plan.campaign import Campaign
from tare.plan.trials import plan_trials
from tare.records import (
    Clocks,
    Direction,
    Environment,
    HostLoad,
    InstanceRun,
    Layout,
    Limits,
    Outcome,
    Parity,
    Sample,
    Scope,
    Session,
    Signal,
    Status,
    Trial,
    Workload,
)

MOST_CONDENSING_S, MOST_LATER_S = 20.0, 2.0
"""Of CPU time, for 100,000 trials with a million samples."""
MOST_LATER_BYTE = 300 << 20
GOAL_TRIALS = 100_000
SIGNALS = 57
NAME = "20260101T000000.000000Z-bench.jsonl"
SLOWER = {"native": 1.0, "even": 1.0, "slow": 1.05, "slower": 1.2}
UTC = "2026-01-01T00:00:00.000+00:00"
CHILD = """
import hashlib, sys
from pathlib import Path
from tare import pipeline
from tare.journal.result import ResultFolder
try:
    from tare.journal import large
    from tare.measure.kept import kept_campaign
except ImportError:
    from tare.measure.campaign import kept_campaign
    large = pipeline
large.LARGE_JOURNAL_BYTE = 0
folder = ResultFolder(Path(sys.argv[1]))
journal = pipeline._journal(folder, kept_campaign(folder))
"""
AS_MEASURED = """
import hashlib, sys
from pathlib import Path
from tare.journal import large
from tare.journal.result import ResultFolder
large.LARGE_JOURNAL_BYTE = int(sys.argv[2])
journal = large.read_result(ResultFolder(Path(sys.argv[1])))
"""
DIGEST = """
digest = hashlib.sha256()
for one in journal.outcomes:
    digest.update(repr([getattr(one, name) for name in one.__dataclass_fields__]).encode())
print(digest.hexdigest())
"""
CONDENSED, AS_LINES = 0, 1 << 60
"""From how many bytes on a journal is large."""


def campaign(trials: int) -> Campaign:
    return Campaign(
        name="many trials",
        environments=tuple(
            Environment(name=name, technology="native") for name in SLOWER if name != "native"
        ),
        layouts=(Layout.parse("1c1p1i"),),
        workloads=(Workload(name="work", kind="command", options={"argv": ["true"]}),),
        limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20, time_s=60.0),
        blocks=max(1, trials // (len(SLOWER) + 1)),
        margin=0.01,
        budget_s=None,
        seed=1,
    )


def write_result(path: Path, trials: int, samples: int) -> int:
    """Make it; gives how many trials it really holds."""
    own = campaign(trials)
    planned = plan_trials(own, 1)
    write_journal(path, own, outcomes(planned, samples, Random(1)), len(planned))  # noqa: S311 - no secret
    return len(planned)


def write_journal(path: Path, own: Campaign, made: Iterable[Outcome], planned: int) -> None:
    """Not with ``JournalWriter``, whose fsync would take most of the time."""
    folder = ResultFolder(path)
    folder.write_campaign(json.dumps(own.to_json()))
    folder.journal.mkdir()
    last = first_link(NAME)
    with (folder.journal / NAME).open("wb") as journal:
        for record in itertools.chain([session(planned)] * 2, made, [None]):
            line, last = seal(record, last)
            journal.write(line)


def outcomes(planned: Sequence[Trial], samples: int, random: Random) -> Iterator[Outcome]:
    plain = outcome(planned[0])
    for trial in planned:
        wall_s = SLOWER[trial.environment.name] * random.lognormvariate(0.0, 0.02)
        yield replace(
            plain,
            trial=trial,
            elapsed_s=wall_s + random.random(),
            node_start_s=random.random(),
            node_stop_s=random.random(),
            cpu_s=wall_s * random.random(),
            samples=tuple(
                Sample(
                    name="wall_s" if not number else f"figure_{number}",
                    value=wall_s * random.lognormvariate(0.0, 0.01),
                    unit="s",
                    direction=Direction.LESS,
                    instance=0,
                )
                for number in range(samples)
            ),
            instances=(
                replace(plain.instances[0], user_s=random.random(), minor_faults=random.randrange(9999)),
            ),
            signals=tuple(replace_value(signal, random) for signal in plain.signals),
            load=HostLoad(processors=1, foreign=random.random() / 20),
        )


def replace_value(signal: Signal, random: Random) -> Signal:
    """Most of them are seldom anything but 0."""
    value = random.random() if signal.name.endswith(("1", "4", "7")) else 0.0
    return Signal(
        name=signal.name, unit=signal.unit, scope=signal.scope, value=value, lost_time=signal.lost_time
    )


def session(planned: int) -> Session:
    return Session(
        identity="bench",
        started_utc=UTC,
        tare_version="0",
        seed=1,
        image_name="none",
        image_digest="none",
        host={},
        skipped=(),
        planned_trials=planned,
    )


def outcome(trial: Trial, samples: tuple[Sample, ...] = ()) -> Outcome:
    clocks = Clocks(wall_s=1.0, host_wall_s=1.0, round_trip_s=0.000013529022300000002)
    return Outcome(
        trial=trial,
        status=Status.OK,
        reason=None,
        excerpt=None,
        started_utc=UTC,
        elapsed_s=1.0,
        node_start_s=None,
        node_stop_s=None,
        barrier_skew_s=None,
        cpu_s=None,
        helpers=0,
        timer_inversions=0,
        samples=samples,
        instances=(
            InstanceRun(
                instance=0,
                clocks=clocks,
                start_offset_s=0.0,
                user_s=0.9,
                system_s=0.1,
                maximum_rss_byte=1 << 22,
                minor_faults=96,
                major_faults=0,
                voluntary_switches=1,
                involuntary_switches=1,
                exit_code=0,
                signal=None,
                timed_out=False,
                host_span_s=1.001,
                uptime_s=1.5,
            ),
        ),
        signals=tuple(
            Signal(name=f"beside_it_{number}_s", unit="s", scope=Scope.HOST, value=0.0)
            for number in range(SIGNALS)
        ),
        missing_signals={f"missing_{number}": "this kernel does not count it" for number in range(12)},
        parity=Parity(
            own={f"own limit {number}": "unlimited:unlimited" for number in range(12)},
            host={f"limit of the host {number}": "8388608:unlimited" for number in range(22)},
        ),
        image_digest="sha256:b905b886c544352bcdde3105fb1e1826e3412c0b55b05dc52b2f862d058c01be",
        facts={f"what is told of the node {number}": "12638248960 byte" for number in range(10)},
    )


def read(tree: Path, result: Path) -> Took:
    """In a process of its own, with the sources of ``tree``."""
    return took(tree, CHILD, result)[1]


def digest(tree: Path, code: str, *arguments: object) -> str:
    """Of all that is read there."""
    return printed(tree, code + DIGEST, *arguments)[-1]


def all_alike(trees: dict[str, Path], result: Path) -> bool:
    """Whether all trees read the same, the last one from what it kept, and ours what the journal's own lines say."""
    now = trees["now"]
    joined = {digest(tree, CHILD, result) for tree in (*reversed(trees.values()), now)}
    measured = {digest(now, AS_MEASURED, result, byte) for byte in (CONDENSED, AS_LINES)}
    return len(joined) == len(measured) == 1


def forget(result: Path) -> None:
    shutil.rmtree(ResultFolder(result).derived, ignore_errors=True)


def said(reads: Sequence[Took]) -> str:
    cpu_s, peak_byte = (
        statistics.median(entry) for entry in zip(*((r.cpu_s, r.peak_byte) for r in reads), strict=True)
    )
    return f"{cpu_s:.2f} s | {peak_byte / 2**20:.0f} MiB"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=GOAL_TRIALS)
    parser.add_argument("--samples", type=int, default=10, help="of each trial")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--before", type=Path, help="another checkout of Tare")
    options = parser.parse_args()
    trees = {"now": Path(__file__).parents[1], **({"before": options.before} if options.before else {})}
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result"
        count = write_result(result, options.trials, options.samples)
        byte = ResultFolder(result).journal_byte
        print(
            f"{count} trials, {count * options.samples} samples, {byte / 2**20:.0f} MiB; {options.rounds} rounds\n"
        )
        once, later = measured(trees, result, options.rounds)
        same = all_alike(trees, result)
    print("| tree | condensing: CPU | peak | a later command: CPU | peak |\n|---|---|---|---|---|")
    for name in trees:
        print(f"| {name} | {said(once[name])} | {said(later[name])} |")
    print(f"\nthe same as from the journal's own lines: {'yes' if same else 'NO'}")
    return 0 if same and meets(once["now"], later["now"], count) else 1


def measured(
    trees: dict[str, Path], result: Path, rounds: int
) -> tuple[dict[str, list[Took]], dict[str, list[Took]]]:
    """By tree, in turn: from nothing, and again."""
    once: dict[str, list[Took]] = {name: [] for name in trees}
    later: dict[str, list[Took]] = {name: [] for name in trees}
    for _ in range(rounds):
        for name, tree in trees.items():
            forget(result)
            once[name].append(read(tree, result))
            later[name].append(read(tree, result))
    return once, later


def meets(once: Sequence[Took], later: Sequence[Took], trials: int) -> bool:
    """Whether the goals for 100,000 trials are met, in proportion for more."""
    scale = max(1.0, trials / GOAL_TRIALS)
    return (
        statistics.median(item.cpu_s for item in once) <= MOST_CONDENSING_S * scale
        and statistics.median(item.cpu_s for item in later) <= MOST_LATER_S * scale
        and statistics.median(item.peak_byte for item in later) <= MOST_LATER_BYTE * scale
    )


if __name__ == "__main__":
    sys.exit(main())
