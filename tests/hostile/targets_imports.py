# SPDX-License-Identifier: Apache-2.0
"""What other tools wrote, as ``tare show FILE`` and ``tare compare`` take it."""

from collections.abc import Iterator

from tare.errors import TareError
from tare.imports.files import Source
from tare.imports.formats import FORMATS, format_of
from tare.imports.reading import Document
from tare.imports.series import arranged
from tests.conftest import REPOSITORY
from tests.hostile.target import Target

OUTPUTS = REPOSITORY / "tests" / "outputs"
_RECORDED = {
    "hyperfine": "imports/hyperfine/sometimes-fails.json",
    "Google Benchmark": "imports/google-benchmark/two-sizes.json",
    "ReFrame report": "imports/reframe/report.json",
    "ReFrame performance log": "imports/reframe/pack.log",
    "Phoronix Test Suite": "imports/phoronix/composite.xml",
    "HPC Challenge": "hpcc/two-ranks/hpccoutf.txt",
    "NAS Parallel Benchmarks": "npb-reference/cg-two-ranks/stdout.txt",
    "OSU Micro-Benchmarks": "imports/osu/two-runs.txt",
    "Intel MPI Benchmarks": "imports/imb/seven-runs.txt",
}
"""Format → a recorded output."""


def targets() -> Iterator[Target]:
    for chosen in FORMATS:
        seed = (OUTPUTS / _RECORDED[chosen.name]).read_bytes()
        yield Target(
            name=f"import: {chosen.name}", seeds=[seed], parse=_imported, refusals=(ValueError, TareError)
        )


def _imported(text: bytes) -> None:
    document = Document(text.decode())
    chosen = format_of(document)
    parsed = chosen.parse(document)
    if parsed.readings:
        source = Source(
            name="a", path=REPOSITORY, format=chosen, readings=parsed.readings, facts=parsed.facts
        )
        arranged([source])
