# SPDX-License-Identifier: Apache-2.0
"""A server of results in a thread, and a client that sends what a browser would, or what it never would."""

import json
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPResponse
from pathlib import Path
from random import Random

import pytest
from bench.fake_results import write_campaign, write_result

from tare.pipeline import analyse_result
from tare.plan.campaign import load_campaign
from tare.records import Coordinate, Direction, Outcome, Sample, Status
from tare.serve.gate import AccessGate
from tare.serve.server import ExplorerServer
from tare.serve.shelf import Shelf

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x1b[2J\u202e"
BLOCKS, ENVIRONMENTS = 8, 3
LIMIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(slots=True)
class Client:
    """One browser."""

    server: ExplorerServer
    cookie: str = ""
    host: str = "127.0.0.1"

    @property
    def token(self) -> str:
        return self.server.gate.token

    def get(self, target: str, method: str = "GET", **headers: str) -> Answer:
        """Header names have ``_`` for ``-``."""
        sent = {"Host": self.host, **({"Cookie": self.cookie} if self.cookie else {})}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [
            f"{method} {target} HTTP/1.1",
            *(f"{name}: {value}" for name, value in sent.items() if value),
        ]
        return self.raw("\r\n".join([*lines, "", ""]).encode())

    def raw(self, request: bytes) -> Answer:
        with self.connected() as connection:
            connection.sendall(request)
            answer = HTTPResponse(connection, method=request.split(b" ")[0].decode("latin-1"))
            answer.begin()
            text = answer.read().decode()
            headers = dict(answer.getheaders())
            answer.close()
            return Answer(answer.status, headers, text)

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.server.server_port), timeout=LIMIT_S)

    def enters(self) -> "Client":
        """Use the printed address, as a browser that keeps cookies."""
        answer = self.get(f"/?token={self.token}")
        self.cookie = answer.headers["Set-Cookie"].partition(";")[0]
        return self

    def read(self, target: str) -> Answer:
        """A page, once the result was read."""
        answer = self.get(target)
        while "<div data-wait>" in answer.text:
            answer = self.get(target)
        return answer


@contextmanager
def serving(*places: Path) -> Iterator[Client]:
    server = ExplorerServer(("127.0.0.1", 0), Shelf(list(places)), AccessGate.new())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield Client(server)
    finally:
        server.shutdown()
        server.end()
        thread.join()


@contextmanager
def reading_held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """No result is read to its end before the event."""
    goes_on = threading.Event()

    def held(path: Path) -> object:
        goes_on.wait(LIMIT_S)
        return analyse_result(path)

    monkeypatch.setattr("tare.serve.shelf.analyse_result", held)
    try:
        yield goes_on
    finally:
        goes_on.set()


def hostile(outcome: Outcome, random: Random) -> Outcome:
    """The same trial, whose program and host say what would be harmful if a page took it as its own."""
    del random
    lost = outcome.trial.block == 1 and outcome.trial.environment.name == "arm1"
    return replace(
        outcome,
        status=Status.FAILED if lost else outcome.status,
        reason=HOSTILE if lost else None,
        excerpt=HOSTILE if lost else None,
        samples=(
            *outcome.samples,
            replace(outcome.samples[0], name=f"x{HOSTILE}", unit="</script>"),
        ),
        facts={**outcome.facts, HOSTILE: HOSTILE},
    )


def make_result(path: Path, *, blocks: int = BLOCKS, is_hostile: bool = False) -> Path:
    path.mkdir(parents=True)
    if is_hostile:
        write_result(path, blocks, ENVIRONMENTS, hostile)
    else:
        write_result(path, blocks, ENVIRONMENTS)
    return path


PARTS = """
name = "parts"
blocks = 6
seed = 1
limits = { memory = "256 MiB", shm = "1 MiB", time = "20s" }
layouts = ["1c1p1i"]

[[environment]]
technology = "fake"
name = "arm0"

[[environment]]
technology = "fake"
name = "arm1"
slowdown = 0.2

[[workload]]
kind = "fake"
name = "work"

[[workload]]
kind = "fake"
name = "aged"
measure = false

[[sharing]]
workloads = ["work"]
alone = "1c1p1i"
together = ["1c2p2i"]

[[order]]
workload = "aged"
option = "value"
values = [1.0, 2.0, 4.0]
layout = "1c1p1i"

[[factor]]
key = "storage"
levels = ["tmpfs", "disk"]
"""
SIZES, RECORDS = tuple(float(1 << power) for power in range(0, 21, 4)), (4096.0, 65536.0)


def make_parts(path: Path) -> Path:
    """A result that has curves and maps, with a harmful name, a factor, sharing, and an order experiment."""
    path.mkdir(parents=True)
    file = path.with_suffix(".toml")
    file.write_text(PARTS)
    write_campaign(path, load_campaign(file, host_processors=2, host_memory_byte=1 << 31), _with_parts)
    return path


def _with_parts(outcome: Outcome, random: Random) -> Outcome:
    trial, (wall, time) = outcome.trial, outcome.samples
    if trial.series:
        places = range(len(trial.series.values))
        return replace(
            outcome,
            samples=tuple(
                replace(time, value=time.value * value * (1 + 0.05 * place), iteration=place)
                for place, value in enumerate(trial.series.values)
            ),
            instances=tuple(
                replace(run, iteration=place, uptime_s=float(place))
                for run in outcome.instances
                for place in places
            ),
        )
    count = trial.layout.instances
    lost = 1.1 if count > 1 else 1.0
    return replace(
        outcome,
        samples=(
            *(
                replace(sample, value=sample.value * lost * random.lognormvariate(0, 0.002), instance=number)
                for sample in (wall, time)
                for number in range(count)
            ),
            *(_over_places(time.value, random) if count == 1 else ()),
        ),
        instances=tuple(replace(outcome.instances[0], instance=number) for number in range(count)),
        barrier_skew_s=0.0005 if count > 1 else None,
    )


def _over_places(time_s: float, random: Random) -> Iterator[Sample]:
    for size in SIZES:
        at = Coordinate("size", size, "B")
        value = time_s * (1e-6 + size * 1e-9) * random.lognormvariate(0, 0.01)
        yield Sample(
            name=f"latency {HOSTILE}", value=value, unit="s", direction=Direction.LESS, coordinates=(at,)
        )
        for record in RECORDS:
            yield Sample(
                name="write_s",
                value=value * (1 + 4096 / record),
                unit="s",
                direction=Direction.LESS,
                coordinates=(at, Coordinate("record", record, "B")),
            )


@dataclass(slots=True)
class GrowingJournal:
    """The journal of a result as its runner writes it: a line, and then another."""

    result: Path
    _lines: list[bytes] = field(default_factory=list)
    _path: Path = Path()

    def begin(self, lines: int) -> None:
        """Leave only the first lines."""
        (self._path,) = self.result.glob("journal/*.jsonl")
        self._lines = self._path.read_bytes().splitlines(keepends=True)
        self._path.write_bytes(b"".join(self._lines[:lines]))
        self._lines = self._lines[lines:]

    def grow(self, lines: int | None = None) -> None:
        """Write so many more; all that are left, the end among them, without a number."""
        count = len(self._lines) if lines is None else lines
        with self._path.open("ab") as opened:
            opened.write(b"".join(self._lines[:count]))
        self._lines = self._lines[count:]


def event_data(text: str) -> list[dict[str, object]]:
    return [
        json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")
    ]


def result_named(client: Client, name: str) -> str:
    """The address of a result's page."""
    link = re.search(
        rf'href="(/r/[0-9a-f]+)">[^<]*</a> <span class="quiet">[^<]*/{name}<', client.get("/").text
    )
    assert link
    return link[1]
