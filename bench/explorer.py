# SPDX-License-Identifier: Apache-2.0
"""How quickly ``tare serve`` answers on a result of a million samples: its first view, a filter, a point's samples.

    python -m bench.explorer [--samples 1000000] [--rounds 20]        (needs 300 MB of disk in the temporary folder)

Makes results of the fake environment (``bench.fake_results``) in two shapes, many short trials and few long ones, whose
trials hold so many iterations that there are as many samples as asked. A server in a process of its own then answers
over loopback. Printed are wall times as medians of the rounds with their longest: of the list, of the first page while
the result is still being read, of the reading itself, of the page once it was read, of each kind of filter, and of the
samples behind a point.
"""

import argparse
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
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


class Browser:
    """Asks one server with its cookie, a connection for each request, as the server wants it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._address = parts.netloc
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

    def page(self, path: str) -> tuple[str, float]:
        """The page, and how many seconds it took."""
        began = time.perf_counter()
        status, _, text = self._request(path, self._cookie)
        took = time.perf_counter() - began
        if status != HTTPStatus.OK:
            raise SystemExit(f"{path}: {status}")
        return text, took


@contextmanager
def served(result: Path) -> Iterator[Browser]:
    argv = [sys.executable, "-m", "tare", "serve", "--no-browser", str(result)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            ready, _, _ = select.select([server.stdout], [], [], _START_S)
            yield Browser(server.stdout.readline().strip() if ready else "")
        finally:
            server.terminate()


def more_samples(count: int, outcome: Outcome, random: Random) -> Outcome:
    """As many iterations of both metrics as make ``count`` samples."""
    first, second = outcome.samples
    return replace(
        outcome,
        samples=tuple(
            replace(sample, instance=None, iteration=number, value=sample.value * random.uniform(0.97, 1.03))
            for sample in (first, second)
            for number in range(count // 2)
        ),
    )


def wait_until_read(browser: Browser, path: str) -> tuple[float, float]:
    """How long the first answer took, and how long it took until there was a page with figures."""
    began = time.perf_counter()
    text, first_s = browser.page(path)
    while "<div data-wait>" in text:
        if time.perf_counter() - began > _READ_S:
            raise SystemExit("the result is not read")
        time.sleep(0.2)
        text, _ = browser.page(path)
    return first_s, time.perf_counter() - began


def asked_again(browser: Browser, path: str, rounds: int) -> list[float]:
    return [browser.page(path)[1] for _ in range(rounds)]


def row(what: str, times_s: Sequence[float], most_s: float | None) -> bool:
    middle, longest = statistics.median(times_s), max(times_s)
    goal = "" if most_s is None else f"{1000 * most_s:.0f} ms"
    print(
        f"| {what} | {1000 * middle:.0f} ms | {1000 * longest:.0f} ms | {len(times_s)} | {goal} |", flush=True
    )
    return most_s is None or longest <= most_s


def measured(result: Path, rounds: int) -> bool:
    met = []
    with served(result) as browser:
        text, list_s = browser.page("/")
        path = re.findall(r'href="(/r/[0-9a-f]+)"', text)[0]
        first_s, read_s = wait_until_read(browser, path)
        met.append(row("the list", [list_s, *asked_again(browser, "/", rounds)], MOST_FIRST_S))
        met.append(row("a result's first answer, not yet read", [first_s], MOST_FIRST_S))
        met.append(row("until its figures are there, once", [read_s], None))
        met.append(
            row("first view of a result that was read", asked_again(browser, path, rounds), MOST_FIRST_S)
        )
        for name, query in (
            ("environment", "environment=arm2"),
            ("metric", "metric=*"),
            ("block", "block=7"),
        ):
            times_s = asked_again(browser, f"{path}?{query}", rounds)
            met.append(row(f"filter by {name}", times_s, MOST_FILTER_S))
        text, _ = browser.page(path)
        point = re.findall(r"point=([0-9a-f]+)", text)[0]
        for name, query in (
            ("the samples behind a point", f"point={point}"),
            ("the same in one block", f"point={point}&block=7"),
        ):
            met.append(row(name, asked_again(browser, f"{path}?{query}", rounds), MOST_FILTER_S))
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
                lambda outcome, random, each=each: more_samples(each, outcome, random),
            )
            print(f"\n{trials} trials of {each // 2 * 2} samples, {trials * (each // 2 * 2)} in all\n")
            print("| what | median | longest | n | goal for the longest |\n|---|---|---|---|---|")
            met.append(measured(result, asked.rounds))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
