# SPDX-License-Identifier: Apache-2.0
"""Each tool's recorded output gives its values, units and directions; what does not count is named.

The outputs of OSU and Phoronix are written after their documentation, the others were recorded
(``tests/outputs/README.md``).
"""

import json
from collections.abc import Sequence

import pytest
from tests.hostile.targets_imports import OUTPUTS

from tare.imports.formats import FORMATS, format_of
from tare.imports.reading import Document, ImportedValue, Parsed, Printed
from tare.records import Direction


def parsed(name: str) -> Parsed:
    return of_text((OUTPUTS / name).read_text())


def of_text(text: str) -> Parsed:
    document = Document(text)
    return format_of(document).parse(document)


def values(readings: Sequence[ImportedValue], subject: str, metric: str) -> list[float]:
    return [each.value for each in readings if (each.subject, each.metric) == (subject, metric)]


def test_groups_of_imb_at_once_are_figures_of_their_own() -> None:
    subjects = {each.subject for each in parsed("imb/five-ranks/stdout.txt").readings}
    assert "Multi-Bcast of 2 groups of 2 processes, 1024 B" in subjects
    assert "Bcast of 5 processes, 1024 B" in subjects


def test_a_row_of_a_single_group_of_imb_names_it() -> None:
    text = (
        "# Benchmarking Multi-Bcast\n# ( 2 groups of 2 processes each running simultaneous )\n"
        "        Group       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n\n"
        "            1         1024           20         0.36         0.50         0.43\n"
    )
    assert [each.subject for each in of_text(text).readings] == [
        "Multi-Bcast of 2 groups of 2 processes, group 1, 1024 B"
    ]


def test_osus_recorded_output_gives_the_average_of_each_size() -> None:
    read = parsed("osu/allreduce/stdout.txt")
    assert len(values(read.readings, "MPI Allreduce Latency Test, 1024 B", "latency_s")) == 1
    assert read.facts == {"OSU version": "5.3"}
    assert parsed("osu/barrier/stdout.txt").readings[0].subject == "MPI Barrier Latency Test"


def test_hyperfine_gives_the_time_of_every_run() -> None:
    readings = parsed("imports/hyperfine/two-commands.json").readings
    assert len(values(readings, "native", "wall_s")) == len(values(readings, "other", "wall_s")) == 8
    assert values(readings, "native", "wall_s")[0] == 0.33816870600000004
    assert {(each.unit, each.direction, each.half_digit) for each in readings} == {("s", Direction.LESS, 0.0)}


def test_hyperfines_failed_runs_do_not_count() -> None:
    read = parsed("imports/hyperfine/sometimes-fails.json")
    assert len(read.readings) == 5
    assert read.remarks == ('bash -c "(( RANDOM % 3 ))": 4 of 9 runs failed',)


def test_two_commands_of_hyperfine_with_one_name_are_refused() -> None:
    export = {"results": [{"command": "a", "times": [1.0]}] * 2}
    with pytest.raises(ValueError, match="two commands are called 'a'"):
        of_text(json.dumps(export))


def test_google_benchmark_gives_repetitions_in_seconds_and_no_aggregates() -> None:
    read = parsed("imports/google-benchmark/two-sizes.json")
    wall = values(read.readings, "sum/1000", "wall_s")
    assert len(wall) == len(values(read.readings, "sum/100000", "cpu_s")) == 8
    assert wall[0] == pytest.approx(1.1499907849611466e-6)
    assert read.remarks == ("fails was not measured: no such device",)
    assert read.facts["processors"] == "2"


def test_aggregates_of_google_benchmark_alone_are_nothing() -> None:
    output = json.loads((OUTPUTS / "imports/google-benchmark/two-sizes.json").read_text())
    output["benchmarks"] = [run for run in output["benchmarks"] if run["run_type"] == "aggregate"]
    assert len(output["benchmarks"]) > 4
    assert of_text(json.dumps(output)).readings == ()


def test_reframes_log_gives_every_run_of_every_variant() -> None:
    read = parsed("imports/reframe/pack.log")
    elapsed = values(read.readings, "pack %level=1", "elapsed")
    assert len(elapsed) == len(values(read.readings, "pack %level=6", "rate")) == 7
    assert elapsed[0] == pytest.approx(0.206734008)
    directions = {(each.metric, each.unit, each.direction) for each in read.readings}
    assert directions == {("elapsed", "s", Direction.LESS), ("rate", "packs/s", Direction.MORE)}
    assert {each.arm for each in read.readings} == {"generic:default+builtin"}


def test_reframes_report_gives_the_same_kind_of_readings() -> None:
    read = parsed("imports/reframe/report.json")
    assert values(read.readings, "work", "elapsed")[0] == pytest.approx(0.213992162)
    assert values(read.readings, "work", "rate")[0] == 4673.0
    assert len(read.readings) == 14


def test_reframes_runs_that_did_not_pass_and_units_without_a_direction_are_named() -> None:
    log = (OUTPUTS / "imports/reframe/pack.log").read_text()
    read = of_text(log.replace("\npass|", "\nfail|", 1).replace("|packs/s|", "|things|"))
    assert len(values(read.readings, "pack %level=1", "elapsed")) == 6
    assert values(read.readings, "pack %level=1", "rate") == []
    assert read.remarks == (
        "rate: its unit 'things' and its thresholds do not tell whether less is better",
        "1 of 14 runs did not pass",
    )


def test_the_only_threshold_of_reframe_tells_a_direction() -> None:
    log = (OUTPUTS / "imports/reframe/pack.log").read_text()
    upper = log.replace("|packs/s|0|None|None|", "|things|10|None|0.1|")
    lower = log.replace("|packs/s|0|None|None|", "|things|10|-0.1|None|")
    directions = [
        {each.direction for each in of_text(text).readings if each.metric == "rate"}
        for text in (upper, lower)
    ]
    assert directions == [{Direction.LESS}, {Direction.MORE}]


def test_osu_gives_each_size_of_each_test() -> None:
    readings = parsed("imports/osu/two-runs.txt").readings
    assert values(readings, "MPI Latency Test, 8 B", "latency_s") == pytest.approx([0.22e-6, 0.24e-6])
    assert values(readings, "MPI Bandwidth Test, 1024 B", "bandwidth_byte_per_s") == pytest.approx(
        [3618.72e6]
    )
    assert values(readings, "MPI Multiple Bandwidth / Message Rate Test, 8 B", "message_per_s") == [
        4333726.75
    ]
    assert values(readings, "MPI Allreduce Latency Test, 4 B", "latency_s") == pytest.approx([1.34e-6])
    assert values(readings, "MPI Barrier Latency Test", "latency_s") == pytest.approx([1.41e-6])
    assert readings[0].half_digit == pytest.approx(0.005e-6)


def test_imb_gives_the_time_of_each_size_in_every_run() -> None:
    read = parsed("imports/imb/seven-runs.txt")
    assert len(values(read.readings, "PingPong of 2 processes, 1024 B", "time_s")) == 7
    assert values(read.readings, "PingPong of 2 processes, 1024 B", "time_s")[2] == pytest.approx(0.70e-6)
    assert values(read.readings, "Allreduce of 2 processes, 2048 B", "time_s")[2] == pytest.approx(0.91e-6)
    assert values(read.readings, "Barrier of 2 processes", "time_s")[2] == pytest.approx(0.41e-6)
    assert read.facts["MPI version"] == "4.1"


def test_npb_gives_rate_and_time_of_each_verified_run() -> None:
    printed = (OUTPUTS / "npb-reference/cg-two-ranks/stdout.txt").read_text()
    read = of_text(printed + printed.replace("SUCCESSFUL", "UNSUCCESSFUL") + printed)
    subject = "NPB CG class S, processes = 2"
    assert values(read.readings, subject, "operation_per_s") == [114.13e6, 114.13e6]
    assert values(read.readings, subject, "timed_region_s") == [0.58, 0.58]
    assert read.remarks == ("run 2: its verification is UNSUCCESSFUL",)


def test_hpcc_gives_the_summary_of_each_run_in_a_file() -> None:
    two = parsed("hpcc/two-ranks/hpccoutf.txt").readings
    subject = "HPCC, N = 2000, 2 processes"
    assert values(two, subject, "hpl_flop_per_s") == pytest.approx([54.74e9], rel=1e-3)
    assert {each.subject for each in parsed("hpcc/appended/hpccoutf.txt").readings} == {
        "HPCC, N = 192, 1 processes",
        "HPCC, N = 192, 2 processes",
    }


@pytest.mark.parametrize("case", ["failed-residual", "cut-short"])
def test_a_run_of_hpcc_that_failed_its_check_or_was_cut_does_not_count(case: str) -> None:
    read = parsed(f"hpcc/{case}/hpccoutf.txt")
    assert read.readings == ()
    assert read.remarks[0].startswith("run 1 of 1: hpcc's o")


def test_phoronix_gives_the_runs_of_each_system() -> None:
    read = parsed("imports/phoronix/composite.xml")
    own = [each for each in read.readings if each.arm == "container"]
    rating = values(own, "7-Zip Compression, Test: Compression Rating", "result")
    assert rating == [9361, 9388, 9370, 9379, 9357, 9377]
    kernel = "Timed Linux Kernel Compilation, Build: defconfig"
    assert values(own, kernel, "result") == [311.9, 312.26]
    assert {each.direction for each in own if each.subject == kernel} == {Direction.LESS}
    assert read.remarks == ("Timed Idle: its proportion '' does not tell whether less is better",)


def test_a_mean_of_phoronix_without_its_runs_is_one_value() -> None:
    native = [each for each in parsed("imports/phoronix/composite.xml").readings if each.arm == "native"]
    assert [each.value for each in native if each.unit == "s"] == [310.42]


def test_every_format_recognizes_its_own_recording_alone() -> None:
    recorded = sorted((OUTPUTS / "imports").glob("*/*"))
    assert len(recorded) == 8
    for path in recorded:
        document = Document(path.read_text())
        assert len([each for each in FORMATS if each.recognizes(document)]) == 1, path


@pytest.mark.parametrize(
    ("name", "whole", "broken", "says"),
    [
        ("osu/two-runs.txt", "1.34 ", "-1.34 ", "no number of 0 or more"),
        ("osu/two-runs.txt", "1                       9.04", "1", "cut short"),
        ("osu/two-runs.txt", "3618.72", "nan", "no number"),
        ("osu/two-runs.txt", "3618.72", "1e999", "from 0 to 1e"),
        ("imb/seven-runs.txt", "         0.00", "", "fields under"),
        ("reframe/pack.log", "pass|", "pass|x|", "fields, the first line"),
        ("reframe/report.json", "213992162.0", '"fast"', "no float"),
        ("reframe/report.json", "213992162.0", "-1.0", "a value is -1"),
        ("hyperfine/two-commands.json", "0.21776898800000002", "NaN", "NaN"),
        ("hyperfine/two-commands.json", "0.21776898800000002", "-1.0", "a value is"),
        ("hyperfine/two-commands.json", "0.21776898800000002", "1e999", "no finite number"),
        ("hyperfine/two-commands.json", '"times": [', '"times": [1.0,', "9 times, 8 exit codes"),
        ("google-benchmark/two-sizes.json", '"ns"', '"h"', "unit 'h'"),
        ("google-benchmark/two-sizes.json", '"real_time": 1.', '"real_time": "a", "a": 1.', "no float"),
        ("phoronix/composite.xml", "</Result>", "", "XML is broken"),
        ("phoronix/composite.xml", "<PhoronixTestSuite>", "<!DOCTYPE a><PhoronixTestSuite>", "document type"),
        ("phoronix/composite.xml", "<Value>10406</Value>", "<Value>1,2</Value>", "a curve"),
        ("phoronix/composite.xml", ":9388:", ":x:", "no number"),
    ],
)
def test_a_broken_output_is_refused_with_its_reason(name: str, whole: str, broken: str, says: str) -> None:
    text = (OUTPUTS / "imports" / name).read_text()
    assert whole in text
    with pytest.raises(ValueError, match=says):
        of_text(text.replace(whole, broken, 1))


def test_an_output_of_npb_that_ends_within_a_run_is_refused() -> None:
    printed = (OUTPUTS / "npb-reference/cg-two-ranks/stdout.txt").read_text()
    with pytest.raises(ValueError, match="ends within a run"):
        of_text(printed + printed.partition("npb@")[0])
    with pytest.raises(ValueError, match="no block of results"):
        of_text(printed.replace(" CG Benchmark C", " Benchmark C"))


@pytest.mark.parametrize(
    ("text", "value", "half"),
    [("1.50", 1.5, 0.005), ("12", 12.0, 0.5), ("1.5e-3", 1.5e-3, 5e-5), ("0.00", 0.0, 0.005)],
)
def test_a_printed_number_is_known_to_half_of_its_last_digit(text: str, value: float, half: float) -> None:
    printed = Printed.of(text)
    assert [printed.value, printed.half_digit] == pytest.approx([value, half])


def test_what_no_known_tool_wrote_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no known tool wrote it; known are hyperfine, Google"):
        of_text("real 0m1.2s\n")
