# SPDX-License-Identifier: Apache-2.0
"""Every parser under millions of inputs that nobody meant: ``python tests/hostile/parsers.py --count N --seed S``.

The promise: whatever a parser is given, it answers or raises an error of Tare's, within five seconds and one GiB. A
line for each parser: inputs, seconds, how many were refused with which kind of error, the longest, what broke. What
broke is repeated by ``--only NAME --first NUMBER --count 1``.
"""

import argparse
import contextlib
import io
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "src"), str(Path(__file__).resolve().parents[2])]

from tests.hostile import (  # noqa: E402
    targets_far,
    targets_imports,
    targets_journal,
    targets_nodes,
    targets_tools,
    targets_workloads,
)
from tests.hostile.mutation import Mutator  # noqa: E402
from tests.hostile.target import Tally, Target, attack  # noqa: E402

DEFAULT_COUNT = 1_000_000
MOST_GROWTH_BYTE = 1 << 30
_CHUNK = 5_000
"""Inputs for which one process lives: what kills it is then known to so many."""
_STUCK_S = 60.0


def all_targets() -> list[Target]:
    """Of all parsers, in the order of the modules that list them."""
    modules = (targets_workloads, targets_journal, targets_nodes, targets_tools, targets_far, targets_imports)
    targets = [target for module in modules for target in module.targets()]
    assert len({target.name for target in targets}) == len(targets)
    return targets


def main(words: Sequence[str] | None = None) -> int:
    """0 if every parser kept the promise."""
    asked = _arguments(words)
    targets = [target for target in all_targets() if asked.only is None or asked.only in target.name]
    until_s = time.monotonic() + asked.seconds
    whole, share_s = True, asked.seconds / max(1, len(targets))
    for place, target in enumerate(targets):
        left_s = until_s - time.monotonic() - share_s * (len(targets) - place - 1)
        begun = time.monotonic()
        tally = _attacked(target, asked, begun + max(left_s, share_s / 10))
        print(_line(target, tally, asked.seed, time.monotonic() - begun), flush=True)
        whole = whole and not tally.broken
    return 0 if whole else 1


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=DEFAULT_COUNT, help="inputs for each parser")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="for all parsers together, shared out equally"
    )
    parser.add_argument("--only", help="parsers whose name holds this")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args(words)


def _attacked(target: Target, asked: argparse.Namespace, until_s: float) -> Tally:
    """Chunk by chunk in processes of their own, which a hang or a crash ends alone."""
    tally, last = Tally(), asked.first + asked.count
    chunks = iter(range(asked.first, last, _CHUNK))
    going: dict[int, tuple[int, int, float]] = {}
    while True:
        while len(going) < asked.processes and time.monotonic() < until_s:
            first = next(chunks, None)
            if first is None:
                break
            numbers = range(first, min(first + _CHUNK, last))
            pid, pipe = _fork(target, asked.seed, numbers, until_s)
            going[pid] = pipe, first, time.monotonic() + (until_s - time.monotonic()) + _STUCK_S
        if not going:
            return tally
        pid, (pipe, first, deadline_s) = next(iter(going.items()))
        del going[pid]
        tally.add(_collected(pid, pipe, first, deadline_s))


def _fork(target: Target, seed: int, numbers: range, until_s: float) -> tuple[int, int]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    code = 1
    try:
        os.close(reading)
        _limit_memory()
        with contextlib.redirect_stderr(io.StringIO()):
            tally = attack(target, Mutator(target.name, target.seeds, seed), iter(numbers), until_s)
        os.write(writing, json.dumps(tally.told()).encode())
        code = 0
    except BaseException:  # noqa: BLE001 - it is this runner's own, and must not look like a parser's
        traceback.print_exc()
    finally:
        os._exit(code)


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + MOST_GROWTH_BYTE
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _collected(pid: int, pipe: int, first: int, deadline_s: float) -> Tally:
    """What a process has found; one that ended or hung has broken something with one of its inputs."""
    text = b""
    with os.fdopen(pipe, "rb") as opened:
        while select.select([opened], [], [], max(0.0, min(deadline_s - time.monotonic(), 1e6)))[0]:
            chunk = os.read(opened.fileno(), 1 << 16)
            if not chunk:
                break
            text += chunk
        else:
            os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if status == 0 and text:
        document = json.loads(text)
        for name in ("refused", "broken"):
            document[name] = Counter(document[name])
        return Tally(**document)
    what = f"the process ended ({os.waitstatus_to_exitcode(status)}), its first input {first}"
    return Tally(broken=Counter({what: 1}), examples={what: first})


def _line(target: Target, tally: Tally, seed: int, took_s: float) -> str:
    refused = ", ".join(f"{count} {kind}" for kind, count in tally.refused.most_common()) or "none"
    text = f"{target.name}: {tally.inputs} inputs (seed {seed}) in {took_s:.0f} s; refused {refused}; "
    text += f"worst {tally.worst_s * 1000:.0f} ms (input {tally.worst})"
    broken = [f"{count} {kind} (input {tally.examples[kind]})" for kind, count in tally.broken.items()]
    return f"{text}; BROKEN: {', '.join(broken)}" if broken else text


if __name__ == "__main__":
    sys.exit(main())
