# SPDX-License-Identifier: Apache-2.0
"""The text of the NAS Parallel Benchmarks, from any implementation that ends with NPB's own block; one or several runs.

Runs without a successful verification do not count.
"""

import re
from collections.abc import Iterator, Mapping

from tare.imports.reading import Document, Format, ImportedValue, Parsed, Printed
from tare.records import Direction
from tare.workloads.npb_reference import result_block

_END = "npb@nas.nasa.gov"
_BEGIN = "NAS Parallel Benchmarks"
_NAME = re.compile(r"\b([A-Z]{2}) Benchmark Completed", re.ASCII)
_METRICS = (
    ("Mop/s total", "operation_per_s", "1/s", 1e6, Direction.MORE),
    ("Time in seconds", "timed_region_s", "s", 1.0, Direction.LESS),
)
_COUNTS = ("Total processes", "Total threads")


def _recognizes(document: Document) -> bool:
    return "Benchmark Completed" in document.text and ("NAS" in document.text or _END in document.text)


def _parse(document: Document) -> Parsed:
    *runs, rest = document.text.split(_END)
    if _BEGIN in rest or not runs:
        raise ValueError(f"the output ends within a run: its last line names {_END}")
    given = [each for number, run in enumerate(runs, 1) for each in _of_run(number, f"{run}{_END}")]
    return Parsed(
        readings=tuple(each for each in given if isinstance(each, ImportedValue)),
        remarks=tuple(each for each in given if isinstance(each, str)),
    )


def _of_run(number: int, text: str) -> Iterator[ImportedValue | str]:
    name, block = _NAME.search(text), result_block(text)
    if name is None or not block:
        raise ValueError(f"run {number} has no block of results")
    verified = block.get("Verification", "missing")
    if verified.upper() != "SUCCESSFUL":
        yield f"run {number}: its verification is {verified}"
        return
    for key, metric, unit, factor, direction in _METRICS:
        printed = Printed.of(block.get(key, ""), factor)
        yield ImportedValue(
            subject=_subject(name[1], block),
            metric=metric,
            unit=unit,
            direction=direction,
            value=printed.value,
            half_digit=printed.half_digit,
        )


def _subject(name: str, block: Mapping[str, str]) -> str:
    counts = [f"{key.split()[1]} = {block[key]}" for key in _COUNTS if key in block]
    return ", ".join([f"NPB {name} class {block.get('Class', '?')}", *counts])


NPB = Format(name="NAS Parallel Benchmarks", recognizes=_recognizes, parse=_parse)
