# SPDX-License-Identifier: Apache-2.0
"""Campaign files, and what each workload's program printed or left."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tare.environments import PROVIDERS
from tare.errors import WrongOutput
from tare.measure.attempt import EXCERPT_CHARACTERS
from tare.plan.campaign import _build
from tare.plan.definition import Campaign
from tare.plan.schema import Host
from tare.plan.source import parse_source
from tare.records import OptionValue, Sample
from tare.workloads import KINDS, excerpt, mpi, mpi_verbs
from tare.workloads.kind import Output
from tare.workloads.slices import parse_slice
from tests.conftest import REPOSITORY
from tests.hostile.target import Target

OUTPUTS = REPOSITORY / "tests" / "outputs"
_STDOUT, _STDERR = "stdout.txt", "stderr.txt"
_HOST = Host(4, 8 << 30)
_RECORDED: Mapping[str, tuple[str, str, str, Mapping[str, OptionValue]]] = {
    "hpcc": ("hpcc", "hpcc/two-ranks", "hpccoutf.txt", {}),
    "hpcc's input": ("hpcc", "hpcc/two-ranks", "hpccinf.txt", {}),
    "hpcc's messages": ("hpcc", "hpcc/refused-single-copy", _STDERR, {}),
    "hpl": ("hpl", "hpl/two-ranks", _STDOUT, {}),
    "hpcg": (
        *("hpcg", "hpcg/two-ranks", "hpcg-result.txt"),
        {"program": "/xhpcg", "nx": 16, "ny": 16, "nz": 16},
    ),
    "netpipe": ("netpipe", "netpipe/mpi", "np.out", {"largest": 1 << 20}),
    "netpipe's messages": ("netpipe", "netpipe/tcp", _STDERR, {"protocol": "tcp"}),
    "netpipe's datagrams": (
        *("netpipe", "netpipe/udp-two-nodes", _STDOUT),
        {"protocol": "udp", "repetitions": 10},
    ),
    "mpiio": ("mpiio", "mpiio/write-two-ranks", _STDOUT, {}),
    "collective": ("collective", "collective/two-ranks", _STDOUT, {}),
    "imb": ("imb", "imb/two-ranks", _STDOUT, {"program": "/imb"}),
    "osu": (
        *("osu", "osu/allreduce", _STDOUT),
        {"program": "/osu_allreduce", "repetitions": 100, "full": True},
    ),
    "npb": ("npb", "npb/ep-two-ranks", _STDOUT, {"benchmark": "ep", "problem_class": "A"}),
    "npb's profile": (
        *("npb", "npb/cg-profiled", "profile.json"),
        {"benchmark": "cg", "problem_class": "S", "profile": True},
    ),
    "npb-reference": ("npb-reference", "npb-reference/cg-two-ranks", _STDOUT, {"program": "/cg"}),
    "files": (
        *("files", "files/matrix", "fio.json"),
        {
            "sizes": ["64 KiB"],
            "records": ["64 KiB"],
            "operations": ["write", "read", "random_write"],
        },
    ),
    "files' fsync": (
        *("files", "files/whole-files", "fio.json"),
        {"operations": ["fsync", "create", "stat", "unlink"], "files": 100, "records": ["4 KiB"]},
    ),
    "iozone": ("iozone", "iozone/matrix", _STDOUT, {"largest": "1 MiB"}),
    "iperf3": (
        "iperf3",
        "iperf3/udp-two-nodes",
        _STDOUT,
        {"protocol": "udp", "amount": "32 MiB", "rate": 1e9},
    ),
    "sockperf": ("sockperf", "sockperf/udp-two-nodes", _STDOUT, {}),
    "connections": ("connections", "connections/two-nodes", _STDOUT, {"connections": 1000}),
    "compute": ("compute", "compute/alone", _STDOUT, {}),
    "memory": ("memory", "memory/alone", _STDOUT, {}),
    "os": ("os", "os/alone", _STDOUT, {}),
    "os by name": ("os", "os/everything", _STDOUT, {"pieces": "all"}),
    "messages": ("messages", "messages/two-ranks", _STDOUT, {}),
    "fake": ("fake", "fake/ok", _STDOUT, {}),
}
"""Parser → kind of workload, recording, which of its texts is changed, options."""


def targets() -> Iterator[Target]:
    presets = sorted((REPOSITORY / "src" / "tare" / "plan" / "presets").glob("*.toml"))
    yield Target(name="campaign file", seeds=[path.read_bytes() for path in presets], parse=_campaign)
    here = [path for path in presets if b"{hosts}" not in path.read_bytes()]
    kept = [json.dumps(_campaign(path.read_bytes()).to_json()).encode() for path in here[:4]]
    yield Target(name="kept campaign", seeds=kept, parse=_kept_campaign)
    for name, (kind, folder, part, options) in _RECORDED.items():
        yield _of_workload(name, kind, OUTPUTS / folder, part, options)
    yield Target(
        name="answer to a turn", seeds=[b"slice 75000000 74000000 1000 9f3a", b"slice 1 - - -"], parse=_slice
    )
    stderr = [path.read_bytes() for path in sorted((OUTPUTS / "mpi").glob("*.stderr"))]
    verbs = [text.replace(b"sysv/memory cma/memory", b"rc_mlx5/mlx5_0:1 ud_verbs/rxe0:1") for text in stderr]
    yield Target(name="Open MPI's messages", seeds=[*stderr, *verbs], parse=_messages)


def _campaign(text: bytes) -> Campaign:
    return _build(parse_source(text, "campaign.toml"), _HOST, PROVIDERS, KINDS)


def _kept_campaign(text: bytes) -> None:
    from tare.untrusted import from_json  # noqa: PLC0415

    try:
        data = from_json(text)
    except ValueError:
        data = None
    Campaign.from_json(data, "campaign.json")


def _of_workload(name: str, kind: str, folder: Path, part: str, chosen: Mapping[str, OptionValue]) -> Target:
    workload = KINDS[kind]
    options = workload.options_model.model_validate(dict(chosen))
    texts = {path.name: path.read_text() for path in sorted(folder.iterdir())}
    whole = Output(stdout=texts.pop(_STDOUT, ""), stderr=texts.pop(_STDERR, ""), files=texts)

    def parse(text: bytes) -> None:
        output = _with(whole, part, text.decode(errors="replace"))
        workload.facts(options, output)
        for sample in workload.samples(options, output):
            _refuse_useless(sample)

    return Target(name=name, seeds=[(folder / part).read_bytes()], parse=parse)


def _refuse_useless(sample: Sample) -> None:
    """As ``tare.measure.trial`` does; a figure that the journal cannot hold is none."""
    if not math.isfinite(sample.value):
        raise WrongOutput("no finite number", sample.name)
    assert type(sample.value) is float
    assert all(math.isfinite(each.value) for each in sample.coordinates)


def _with(output: Output, part: str, text: str) -> Output:
    if part == _STDOUT:
        return replace(output, stdout=text)
    if part == _STDERR:
        return replace(output, stderr=text)
    return replace(output, files={**output.files, part: text})


def _slice(text: bytes) -> None:
    result = parse_slice(text.decode(errors="replace"))
    assert 0 < result.wall_ns < 1 << 63


def _messages(text: bytes) -> None:
    said = text.decode(errors="replace")
    for read in _READERS:
        read(said)


_READERS: tuple[Callable[[str], object], ...] = (
    mpi.transports,
    mpi.last_words,
    mpi.without_chatter,
    mpi.refused_single_copy,
    mpi_verbs.paths,
    lambda said: excerpt.tail(said, EXCERPT_CHARACTERS),
)
