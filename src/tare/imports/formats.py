# SPDX-License-Identifier: Apache-2.0
"""The list of all formats, and which of them a text is in."""

from tare.imports.google_benchmark import GOOGLE_BENCHMARK
from tare.imports.hpcc import HPCC
from tare.imports.hyperfine import HYPERFINE
from tare.imports.imb import IMB
from tare.imports.npb import NPB
from tare.imports.osu import OSU
from tare.imports.phoronix import PHORONIX
from tare.imports.reading import Document, Format
from tare.imports.reframe import REFRAME_LOG, REFRAME_REPORT

FORMATS: tuple[Format, ...] = (
    HYPERFINE,
    GOOGLE_BENCHMARK,
    REFRAME_REPORT,
    REFRAME_LOG,
    PHORONIX,
    HPCC,
    NPB,
    OSU,
    IMB,
)


def format_of(document: Document) -> Format:
    """Recognize the tool by its text; ``ValueError`` if none is known to write such."""
    chosen = next((each for each in FORMATS if each.recognizes(document)), None)
    if chosen is None:
        raise ValueError(f"no known tool wrote it; known are {', '.join(each.name for each in FORMATS)}")
    return chosen
