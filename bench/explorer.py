# SPDX-License-Identifier: Apache-2.0
"""How quickly ``tare serve`` answers on a result of a million samples: its first view, a filter, a point's samples.

    python -m bench.explorer [--samples 1000000] [--rounds 20]        (needs 300 MB of disk in the temporary folder)

Makes results of the fake environment (``bench.fake_results``) in two shapes, many short trials and few long ones, whose
trials hold so many iterations that there are as many samples as asked. A server in a process of its own then answers
over loopback. Printed are wall times as medians of the rounds with their longest, and the server's processor time as
the mean (a hundredth of a second is the least that it counts): of the list, of the first page while the result is still
being read, of the reading itself, of the page once it was read, of each kind of filter, and of the samples behind a
point. Then servers are started anew on the same result, which has its first view beside it as after ``tare run``: of
their first page, with all figures, while they read the rest.
"""

import argparse
import os
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from bench.fake_results import write_result
from tare.records import Outcome

SHAPES = ((1000, 4), (20, 4))
"""Blocks and environments."""
MOST_FIRST_S, MOST_FILTER_S = 1.0, 0.2
_START_S, _READ_S = 30.0, 600.0
_STARTS = 5
WAITING, FACT = "<div data-wait>", "<td><div>native</div><div>arm0 (fake)</div>"
"""What a page has while the result is read."""


@dataclass(frozen=True, slots=True)
class Took:
    """One request: by this process's clock, and of the server's processor time."""

    wall_s: float
    cpu_s: float


class Browser:
    """Asks one server with its cookie, a connection for each request, as the server wants it."""

    def __init__(self, url: str, pid: int) -> None:
        self.began_s, parts = time.perf_counter(), urlsplit(url)
        self._address, self._pid = parts.netloc, pid
        answer = self._request(f"/?{parts.query}", {})
        self._cookie = {"Cookie": (answer[1] or "").partition(";")[0]}

    def _request(self, path: str, headers: dict[str, str]) -> tuple[int, str | None, str]:
        connection = HTTPConnection(self._address, timeout=_READ_S)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Set-Cookie"), answer.read().decode()
        finally:
            connection.close()

    def peak_byte(self) -> int:
        status = Path(f"/proc/{self._pid}/status").read_text()
        return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:"))

    def page(self, path: str) -> tuple[str, Took]:
        """The page, and what it took."""
        began_s, used_s = time.perf_counter(), self.used_s()
        status, _, text = self._request(path, self._cookie)
        took = Took(time.perf_counter() - began_s, self.used_s() - used_s)
        if status != HTTPStatus.OK:
            raise SystemExit(f"{path}: {status}")
        return text, took

    def used_s(self) -> float:
        """Of processor time, with that of ended threads (proc(5), ``stat``), in hundredths."""
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(result: Path) -> Iterator[Browser]:
    argv = [sys.executable, "-m", "tare", "serve", "--no-browser", str(result)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            ready, _, _ = select.select([server.stdout], [], [], _START_S)
            yield Browser(server.stdout.readline().strip() if ready else "", server.pid)
        finally:
            server.terminate()


def more_samples(count: int, outcome: Outcome, random: Random) -> Outcome:
    """As many iterations of both metrics as make ``count`` samples."""
    return replace(
        outcome,
        samples=tuple(
            replace(sample, instance=None, iteration=number, value=sample.value * random.uniform(0.97, 1.03))
            for sample in outcome.samples
            for number in range(count // len(outcome.samples))
        ),
    )


def wait_until_read(browser: Browser, path: str) -> tuple[Took, Took]:
    """What the first answer took, and from the server's start what it took until there was a page with figures."""
    text, first = browser.page(path)
    if WAITING in text and FACT not in text:
        raise SystemExit("the first answer says nothing of the campaign")
    while WAITING in text:
        if time.perf_counter() - browser.began_s > _READ_S:
            raise SystemExit("the result is not read")
        time.sleep(0.5)
        text, _ = browser.page(path)
    return first, Took(time.perf_counter() - browser.began_s, browser.used_s())


def started_anew(result: Path, rounds: int) -> tuple[list[Took], list[Took]]:
    """The first page of servers that were just started, which must have the figures; and then a filter."""
    firsts, filters = [], []
    for _ in range(rounds):
        with served(result) as browser:
            path = re.findall(r'href="(/r/[0-9a-f]+)"', browser.page("/")[0])[0]
            text, first = browser.page(path)
            if WAITING in text or "point=" not in text:
                raise SystemExit("the first view was not kept")
            firsts.append(first)
            filters.append(browser.page(f"{path}?metric=*")[1])
    return firsts, filters


def asked_again(browser: Browser, path: str, rounds: int) -> list[Took]:
    return [browser.page(path)[1] for _ in range(rounds)]


def row(what: str, took: Sequence[Took], most_s: float | None) -> bool:
    """Print it; whether the median is within the goal."""
    walls_s = [each.wall_s for each in took]
    middle_s, mean_cpu_s = statistics.median(walls_s), statistics.fmean(each.cpu_s for each in took)
    goal = "" if most_s is None else f"{1000 * most_s:.0f} ms"
    figures = (middle_s, max(walls_s), mean_cpu_s)
    print(
        f"| {what} | {' | '.join(f'{1000 * each:.0f} ms' for each in figures)} | {len(took)} | {goal} |",
        flush=True,
    )
    return most_s is None or middle_s <= most_s


def measured(result: Path, rounds: int) -> bool:
    with served(result) as browser:
        text, first_list = browser.page("/")
        path = re.findall(r'href="(/r/[0-9a-f]+)"', text)[0]
        met = [row("the list", [first_list, *asked_again(browser, "/", rounds)], MOST_FIRST_S)]
        first, whole = wait_until_read(browser, path)
        met.append(row("a result's first answer, while it is read", [first], MOST_FIRST_S))
        met.append(row("until its figures are there, once", [whole], None))
        point = re.findall(r"point=([0-9a-f]+)", browser.page(path)[0])[0]
        for what, query, most_s in (
            ("first view of a result that was read", "", MOST_FIRST_S),
            ("filter by environment", "?environment=arm2", MOST_FILTER_S),
            ("filter by metric", "?metric=*", MOST_FILTER_S),
            ("filter by block", "?block=7", MOST_FILTER_S),
            ("the samples behind a point", f"?point={point}", MOST_FILTER_S),
            ("the same in one block", f"?point={point}&block=7", MOST_FILTER_S),
        ):
            met.append(row(what, asked_again(browser, f"{path}{query}", rounds), most_s))
        peak_byte = browser.peak_byte()
    firsts, filters = started_anew(result, _STARTS)
    met.append(row("first view after the next start", firsts, MOST_FIRST_S))
    met.append(row("filter by metric, while the rest is read", filters, MOST_FILTER_S))
    print(f"\npeak of the server's memory: {peak_byte >> 20} MiB")
    return all(met)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    asked = parser.parse_args()
    met = []
    for blocks, environments in SHAPES:
        trials = blocks * (environments + 2)
        each = max(2, asked.samples // trials)
        with tempfile.TemporaryDirectory() as folder:
            result = Path(folder) / "result"
            write_result(
                result,
                blocks,
                environments,
                partial(more_samples, each),
            )
            print(f"\n{trials} trials of {each // 2 * 2} samples, {trials * (each // 2 * 2)} in all\n")
            print("| what | median | longest | mean CPU time | n | goal |\n|---|---|---|---|---|---|")
            met.append(measured(result, asked.rounds))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
