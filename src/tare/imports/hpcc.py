# SPDX-License-Identifier: Apache-2.0
"""``hpccoutf.txt`` of the HPC Challenge suite, to which every run in the same folder appends.

Read as for the workload ``hpcc``: a run that is cut, or that fails a check of hpcc's, does not count.
"""

from collections.abc import Iterator, Mapping

from tare.errors import WrongOutput
from tare.imports.reading import Document, Format, ImportedValue, Parsed, Printed
from tare.workloads.hpcc.checks import check_residuals, check_success
from tare.workloads.hpcc.metrics import METRICS, MISSING, run_facts
from tare.workloads.hpcc.summary import HEADER, number, parse_summary


def _recognizes(document: Document) -> bool:
    return HEADER in document.text


def _parse(document: Document) -> Parsed:
    runs = document.text.split(HEADER)[1:]
    readings: list[ImportedValue] = []
    remarks: list[str] = []
    facts: dict[str, str] = {}
    for place, run in enumerate(runs, 1):
        try:
            summary = _checked(f"{HEADER}{run}")
            readings += _of_run(summary)
            facts |= {label: text for label, text in run_facts(summary).items() if label == "hpcc version"}
        except WrongOutput as error:
            remarks.append(f"run {place} of {len(runs)}: {error}")
    return Parsed(readings=tuple(readings), facts=facts, remarks=tuple(remarks))


def _checked(run: str) -> Mapping[str, str]:
    summary = parse_summary(run)
    check_success(run, summary)
    check_residuals(summary)
    return summary


def _of_run(summary: Mapping[str, str]) -> Iterator[ImportedValue]:
    subject = f"HPCC, N = {summary.get('HPL_N', '?')}, {summary.get('CommWorldProcs', '?')} processes"
    for metric in METRICS:
        if number(summary, metric.key) == MISSING:
            continue
        printed = Printed.of(summary[metric.key], metric.factor)
        yield ImportedValue(
            subject=subject,
            metric=metric.name,
            unit=metric.unit,
            direction=metric.direction,
            value=printed.value,
            half_digit=printed.half_digit,
        )


HPCC = Format(name="HPC Challenge", recognizes=_recognizes, parse=_parse)
