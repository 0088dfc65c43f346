# SPDX-License-Identifier: Apache-2.0
"""Signals and exclusions as a reader and a program see them."""

import io
import json
from dataclasses import replace

from rich.console import Console

from tare.records import (
    Analysis,
    Estimate,
    Exclusions,
    Rule,
    Scope,
    Signal,
    SignalDifference,
    SignalTable,
    Status,
)
from tare.report.document import render_report
from tare.report.losses import exclusions_said, warnings_said
from tare.report.machine import to_json
from tare.report.signals import shown_signals
from tare.report.table import print_tables
from tests.report.report_example import example as plain_example


def difference(name: str, native: float, point: float, unit: str = "s") -> SignalDifference:
    return SignalDifference(
        name=name,
        unit=unit,
        scope=Scope.NODE,
        native=native,
        difference=Estimate(point=point, low=0.5 * point, high=1.5 * point, level=0.96, n=7),
    )


def example() -> Analysis:
    plain = plain_example()
    cell = plain.verdicts[0].overhead.summary.cell
    table = SignalTable(
        cell=cell,
        environment="docker",
        differences=(
            difference("throttled_s", 0.0, 0.25),
            difference("interface_received_byte", 1e6, -2e6, "byte"),
            difference("tcp_timeouts", 0.0, 0.0, "1"),
        ),
        missing={"energy_j": "no <RAPL> here", "frequency_hz": "no cpufreq", "temperature_c": "no cpufreq"},
    )
    first = plain.outcomes[0]
    signal = Signal(name="throttled_s", unit="s", scope=Scope.NODE, value=0.5, lost_time=True)
    outcomes = (
        replace(
            first, status=Status.INVALID, reason="others", excluded_by=Rule.FOREIGN_LOAD, signals=(signal,)
        ),
        *(
            replace(outcome, signals=(replace(signal, name="softirq_s", scope=Scope.HOST),))
            for outcome in plain.outcomes[1:]
        ),
    )
    exclusions = (
        Exclusions(cell=cell, environment="docker", trials=10),
        Exclusions(cell=cell, environment="native", trials=20, excluded={Rule.FOREIGN_LOAD: 3}),
    )
    warned = tuple(
        replace(verdict, warnings=("binary differs: b in docker, a natively",)) for verdict in plain.verdicts
    )
    return replace(plain, outcomes=outcomes, signals=(table,), exclusions=exclusions, verdicts=warned)


def printed(analysis: Analysis) -> str:
    console = Console(file=io.StringIO(), width=200)
    print_tables(analysis, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_row_has_a_sign_a_unit_an_interval_and_a_count() -> None:
    (shown,) = shown_signals(example())
    first, second = shown.rows
    assert (first.name, first.native, first.difference, first.interval, first.n) == (
        "throttled_s",
        "0 s",
        "+250 ms",
        "+125 ms to +375 ms",
        7,
    )
    assert second.difference == "\N{MINUS SIGN}2 MB"


def test_what_nobody_had_is_named_in_a_line_and_what_is_missing_by_its_reason() -> None:
    (shown,) = shown_signals(example())
    assert shown.nothing == ("tcp_timeouts",)
    assert shown.missing == {"no <RAPL> here": ("energy_j",), "no cpufreq": ("frequency_hz", "temperature_c")}


def test_losses_are_told_for_every_arm_of_the_cell_that_lost_any() -> None:
    ((cell, shown),) = exclusions_said(example())
    assert shown == "docker 0 of 10 trials; native 3 of 20 trials (3 for foreign load)"
    assert exclusions_said(replace(example(), exclusions=())) == ()
    assert cell == example().exclusions[0].cell


def test_a_warning_is_said_once_for_a_cell() -> None:
    assert len(example().verdicts) > len(warnings_said(example()))
    assert {entry for _, entry in warnings_said(example())} == {"binary differs: b in docker, a natively"}


def test_the_terminal_tells_losses_and_warnings() -> None:
    text = printed(example())
    assert "native 3 of 20 trials (3 for foreign load)" in text
    assert "Warning: " in text
    assert "excluded by rules" not in printed(plain_example())


def test_the_page_tells_losses_and_warnings_and_folds_the_signals_away() -> None:
    page = render_report(example())
    assert "Trials that rules took out" in page
    assert "binary differs: b in docker, a natively" in page
    assert "no &lt;RAPL&gt; here" in page
    details = page[page.index('id="signals"') :]
    assert details.index("<details>") < details.index("throttled_s") < details.index("</details>")
    assert 'id="signals"' not in render_report(plain_example())


def test_a_program_gets_every_trials_signals_and_null_for_what_it_lacks() -> None:
    document = json.loads(json.dumps(to_json(example())))
    first, second = document["signals"]["trials"][:2]
    assert first["values"] == {"softirq_s": None, "throttled_s": 0.5}
    assert (first["excluded_by"], first["of_the_host"]) == ("foreign load", [])
    assert second["of_the_host"] == ["softirq_s"]
    assert document["signals"]["kinds"]["throttled_s"] == {"unit": "s", "lost_time": True}


def test_a_program_gets_differences_exclusions_and_warnings() -> None:
    document = to_json(example())
    (table,) = document["signals"]["environments"]
    assert table["differences"][0]["difference"]["unit"] == "s"
    assert table["missing"]["frequency_hz"] == "no cpufreq"
    assert document["exclusions"][1]["excluded"] == {"foreign load": 3}
    assert document["verdicts"][0]["warnings"] == ["binary differs: b in docker, a natively"]
    assert document["lost"][0]["excluded_by"] == "foreign load"


def test_what_all_environments_lack_is_said_once() -> None:
    analysis = example()
    (table,) = analysis.signals
    other = replace(table, environment="podman", missing={**table.missing, "steal_s": "podman's alone"})
    text = render_report(replace(analysis, signals=(table, other)))
    assert text.count("no &lt;RAPL&gt; here") == 1
    assert text.count("podman's alone".replace("'", "&#39;")) == 1
    assert "missing in all environments" in text


def test_what_is_left_over_from_subtracting_equal_numbers_is_nothing() -> None:
    (table,) = example().signals
    alike = replace(table.differences[0], native=1.6e-7)
    alike = replace(alike, difference=replace(alike.difference, point=-2.6e-23, low=-9e-8, high=7e-8))
    (shown,) = shown_signals(replace(example(), signals=(replace(table, differences=(alike,)),)))
    assert (shown.rows[0].difference, shown.rows[0].native) == ("0 s", "160 ns")
