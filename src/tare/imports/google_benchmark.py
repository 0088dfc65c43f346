# SPDX-License-Identifier: Apache-2.0
"""The JSON of Google Benchmark (``--benchmark_format=json``): real and CPU time of each repetition.

Aggregates, such as the mean, are not read, as the repetitions are there; with ``--benchmark_report_aggregates_only``
they are not, and nothing is left. Rates and counters follow from the times, or have no known direction.
"""

from typing import NotRequired, TypedDict

from tare.imports.reading import Document, Format, ImportedValue, Parsed, checked
from tare.records import Direction
from tare.untrusted import of_kind, start_of

_UNIT_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_METRICS = {"real_time": "wall_s", "cpu_time": "cpu_s"}
_FACTS = {
    "host_name": "host",
    "num_cpus": "processors",
    "mhz_per_cpu": "MHz",
    "cpu_scaling_enabled": "frequency scaling",
}


class _Repetition(TypedDict):
    name: str
    run_type: NotRequired[str]
    run_name: NotRequired[str]
    time_unit: NotRequired[str]
    error_occurred: NotRequired[bool]
    error_message: NotRequired[str]
    skipped: NotRequired[bool]


def _recognizes(document: Document) -> bool:
    return document.has("context", "benchmarks")


def _parse(document: Document) -> Parsed:
    output = of_kind(dict, document.json)
    runs = of_kind(list[_Repetition], output["benchmarks"])
    single = [run for run in runs if run.get("run_type", "iteration") == "iteration"]
    context = of_kind(dict, output["context"])
    return Parsed(
        readings=tuple(
            _reading(run, key) for run in single if not _skipped(run) for key in _METRICS if key in run
        ),
        facts={label: str(context[key]) for key, label in _FACTS.items() if key in context},
        remarks=tuple(dict.fromkeys(_remark(run) for run in single if _skipped(run))),
    )


def _skipped(run: _Repetition) -> bool:
    return bool(run.get("error_occurred") or run.get("skipped"))


def _remark(run: _Repetition) -> str:
    return f"{run['name']} was not measured: {run.get('error_message', 'skipped')}"


def _reading(run: _Repetition, key: str) -> ImportedValue:
    unit = run.get("time_unit", "ns")
    if unit not in _UNIT_S:
        raise ValueError(
            f"{start_of(run['name'])} has the unit {start_of(unit)}, none of {', '.join(_UNIT_S)}"
        )
    value = of_kind(float, dict(run)[key])
    return ImportedValue(
        subject=run.get("run_name", run["name"]),
        metric=_METRICS[key],
        unit="s",
        direction=Direction.LESS,
        value=checked(value * _UNIT_S[unit]),
    )


GOOGLE_BENCHMARK = Format(name="Google Benchmark", recognizes=_recognizes, parse=_parse)
