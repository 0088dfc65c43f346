# SPDX-License-Identifier: Apache-2.0
"""ReFrame 4: its performance logs in their default form (fields separated by "|"), and its JSON report.

Both keep one value of each performance variable for every run, with unit and thresholds, but without a direction: that
follows from the unit, else from the only threshold.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NotRequired, TypedDict

from tare.imports.reading import Document, Format, ImportedValue, Parsed, checked
from tare.records import Direction
from tare.untrusted import figure, of_kind, start_of

_TIME_S = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec", "milliseconds"), 1e-3),
    **dict.fromkeys(("us", "usec", "microseconds"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nanoseconds"), 1e-9),
}
_RATE = re.compile(r".{0,40}(?:/ ?s|/ ?sec|/ ?seconds?|[KMGTi]bps|flops|hz)", re.ASCII | re.IGNORECASE)
_ABSENT = {"", "None", "null"}
_VALUE = "_value"
_COLUMNS = {"result", "name", "system"}
"""Every log with the default form has them."""
_Raw = float | str | None
_LIMITS = slice(2, 4)
_UNIT = 4


class _Case(TypedDict):
    name: str
    system: str
    result: str
    partition: NotRequired[str | None]
    environ: NotRequired[str | None]
    perfvalues: NotRequired[dict[str, list[_Raw]] | None]


class _ReframeRun(TypedDict):
    testcases: list[_Case]


def _is_report(document: Document) -> bool:
    return document.has("session_info", "runs")


def _parse_report(document: Document) -> Parsed:
    runs = of_kind(list[_ReframeRun], document.json["runs"])
    cases = [case for run in runs for case in run["testcases"]]
    passed = [case for case in cases if case["result"] == "pass"]
    host = of_kind(dict, document.json["session_info"]).get("hostname")
    readings = [each for case in passed for each in _of_case(case)]
    return _parsed(
        readings, len(cases) - len(passed), len(cases), {} if host is None else {"host": str(host)}
    )


def _of_case(case: _Case) -> Iterator[ImportedValue | str]:
    place = _place(case["system"], case.get("partition"), case.get("environ"))
    for name, values in (case.get("perfvalues") or {}).items():
        if len(values) <= _UNIT:
            raise ValueError(
                f"{start_of(name)} has {len(values)} entries, not value, reference, thresholds and unit"
            )
        yield _reading(case["name"], place, name.rpartition(":")[2], values)


def _is_log(document: Document) -> bool:
    return set(document.text.partition("\n")[0].split("|")) >= _COLUMNS


def _parse_log(document: Document) -> Parsed:
    lines = document.text.splitlines()
    columns = lines[0].split("|")
    rows = [_row(number, columns, line) for number, line in enumerate(lines[1:], 2) if line.strip()]
    passed = [row for row in rows if row["result"] == "pass"]
    names = [column.removesuffix(_VALUE) for column in columns if column.endswith(_VALUE)]
    readings = [each for row in passed for each in _of_row(row, names)]
    hosts = ", ".join(dict.fromkeys(row["job_nodelist"] for row in rows if row.get("job_nodelist")))
    return _parsed(readings, len(rows) - len(passed), len(rows), {"host": hosts} if hosts else {})


def _row(number: int, columns: Sequence[str], line: str) -> Mapping[str, str]:
    fields = line.split("|")
    if len(fields) != len(columns):
        raise ValueError(f"line {number} has {len(fields)} fields, the first line {len(columns)}")
    return dict(zip(columns, fields, strict=True))


def _of_row(row: Mapping[str, str], names: Iterable[str]) -> Iterator[ImportedValue | str]:
    place = _place(row["system"], row.get("partition"), row.get("environ"))
    for name in names:
        fields = [
            row.get(f"{name}_{key}", "") for key in ("value", "ref", "lower_thres", "upper_thres", "unit")
        ]
        if fields[0] in _ABSENT:
            continue
        limits = [None if text in _ABSENT else text for text in fields[_LIMITS]]
        yield _reading(row["name"], place, name, [figure(fields[0]), None, *limits, fields[_UNIT]])


def _place(system: str, partition: str | None, environ: str | None) -> str:
    return f"{system}:{partition}+{environ}" if partition and environ else system


def _reading(subject: str, arm: str, metric: str, values: Sequence[_Raw]) -> ImportedValue | str:
    """The value in seconds if it is a time; a sentence if nothing tells its direction."""
    value, unit = of_kind(float, values[0]), str(values[_UNIT] or "")
    direction = _direction(unit, values[_LIMITS])
    if direction is None:
        return f"{metric}: its unit {unit!r} and its thresholds do not tell whether less is better"
    factor = _TIME_S.get(unit.lower(), 1.0)
    return ImportedValue(
        subject=subject,
        metric=metric,
        unit="s" if unit.lower() in _TIME_S else unit,
        direction=direction,
        value=checked(value * factor),
        arm=arm,
    )


def _direction(unit: str, limits: Sequence[_Raw]) -> Direction | None:
    if unit.lower() in _TIME_S:
        return Direction.LESS
    if _RATE.fullmatch(unit):
        return Direction.MORE
    lower, upper = limits
    if (lower is None) == (upper is None):
        return None
    return Direction.LESS if lower is None else Direction.MORE


def _parsed(
    readings: Iterable[ImportedValue | str], failed: int, runs: int, facts: Mapping[str, str]
) -> Parsed:
    given = list(readings)
    remarks = list(dict.fromkeys(each for each in given if isinstance(each, str)))
    if failed:
        remarks.append(f"{failed} of {runs} runs did not pass")
    return Parsed(
        readings=tuple(each for each in given if isinstance(each, ImportedValue)),
        facts=facts,
        remarks=tuple(remarks),
    )


REFRAME_LOG = Format(name="ReFrame performance log", recognizes=_is_log, parse=_parse_log)
REFRAME_REPORT = Format(name="ReFrame report", recognizes=_is_report, parse=_parse_report)
