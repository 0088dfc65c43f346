# SPDX-License-Identifier: Apache-2.0
r"""Each workload of the papers, small, in the environments that people weigh: a table of verdicts.

    scripts/with-dockerd .venv/bin/python -m bench.each_workload --folder DIR [--blocks 6] [--only NAME]...   (root)
    scripts/with-dockerd .venv/bin/python -m bench.each_workload --folder DIR --blocks 1 --environment qemu

A campaign for each workload, one after the other. Below six blocks nothing is decided, and the table says that it ran:
a workload whose result is wrong fails its trial. `iozone`, `imb`, `osu` and `hpcg` need the user's own programs and are
not here. Prints the table and writes it to DIR/each-workload.txt; ends with 1 if a trial failed or an environment is
missing without a reason.
"""

import argparse
import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ENVIRONMENTS = ("docker", "lxc", "podman", "systemd-nspawn", "bubblewrap", "gvisor")
LIMIT_S = 3600.0

WORKLOADS: Mapping[str, tuple[str, str]] = {
    "os": (
        "1c2p1i",
        'pieces = ["fork-exit", "fork-exec", "context-switch", "pipe", "futex", "system-calls", "page-fault"]',
    ),
    "memory": (
        "1c1p1i",
        'operations = ["triad", "chase", "updates"]\nsizes = ["32 KiB", "512 KiB", "64 MiB"]',
    ),
    "mpiio": ("1c2p1i", 'size = "4 MiB"\nrecords = ["64 KiB", "1 MiB"]'),
    "files": ("1c1p1i", 'sizes = ["64 KiB", "1 MiB"]\nrecords = ["4 KiB", "64 KiB"]'),
    "collective": ("1c2p1i", 'benchmark = "allreduce"\nlargest = "64 KiB"'),
    "hpl": ("1c2p1i", "problem_size = 1500\nblock_size = 192"),
    "iperf3": ("1c2p1i", 'amount = "512 MiB"'),
    "sockperf": ("1c2p1i", "messages = 5000"),
    "connections": ("1c2p1i", "connections = 5000"),
    "netpipe": ("1c2p1i", 'protocol = "udp"\nlargest = "16 KiB"'),
}
"""Kind -> layout and options."""


def campaign(kind: str, environments: Sequence[str], blocks: int) -> str:
    layout, options = WORKLOADS[kind]
    tables = "".join(f'[[environment]]\ntechnology = "{name}"\n' for name in environments)
    return textwrap.dedent(
        """\
        name = "{kind}"
        blocks = {blocks}
        layouts = ["{layout}"]

        [limits]
        memory = "1 GiB"

        {tables}
        [[workload]]
        name = "{kind}"
        {options}
        """
    ).format(kind=kind, blocks=blocks, layout=layout, tables=tables, options=options)


def answers(result: Path) -> Mapping[str, list[str]]:
    """Environment -> what the result says of each primary figure, or why there is none."""
    said: dict[str, list[str]] = {}
    for environment, answer in _answers(json.loads(_tare("show", str(result), "--json").stdout)):
        said.setdefault(environment, []).append(answer)
    return said


def _answers(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for skipped in document["skipped"]:
        yield skipped["environment"], f"skipped: {skipped['reason']}"
    for failure in document["failures"]:
        yield failure["environment"], f"FAILED: {failure['reason']}"
    for verdict in document["verdicts"]:
        if verdict["primary"]:
            sentence = verdict["sentence"].removeprefix(f"{verdict['environment']}: ")
            yield verdict["environment"], f"{verdict['metric']}: {sentence}"


def _tare(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tare", *words], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def run(kind: str, environments: Sequence[str], blocks: int, folder: Path) -> tuple[str, bool]:
    """Text of the workload's answers, and whether each environment had one that is no failure."""
    file, result = folder / f"{kind}.toml", folder / kind
    file.write_text(campaign(kind, environments, blocks))
    done = _tare("run", str(file), "--output", str(result))
    (folder / f"{kind}.stderr").write_text(done.stderr)
    if done.returncode not in {0, 1}:
        return f"## {kind}\n\nFAILED: {done.stderr.splitlines()[-1]}\n", False
    said = answers(result)
    lines = [
        f"- {name}: {answer}" for name in environments for answer in said.get(name, ["FAILED: no answer"])
    ]
    return "\n".join([f"## {kind}", "", *lines, ""]), not any("FAILED" in line for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--only", action="append", choices=WORKLOADS)
    parser.add_argument("--environment", action="append")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    texts, passed = [], True
    for kind in asked.only or WORKLOADS:
        text, is_right = run(kind, asked.environment or ENVIRONMENTS, asked.blocks, asked.folder)
        print(text, flush=True)
        texts.append(text)
        passed &= is_right
    (asked.folder / "each-workload.txt").write_text("\n".join(texts))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
