# SPDX-License-Identifier: Apache-2.0
"""fio's job file for a matrix of files, and its JSON as real runs left it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.workloads.recorded import SHAPE, recorded, with_file

from tare.errors import InputError, WrongOutput
from tare.records import Coordinate, Direction, Sample, Storage, Workload
from tare.units import GIBIBYTE, KIBIBYTE, MEBIBYTE, format_byte
from tare.workloads import primary_metrics
from tare.workloads.files import JOB_FILE, RESULT, FilesOptions, FioFiles
from tare.workloads.files.jobs import MATRIX, Operation
from tare.workloads.kind import Span

FILES = FioFiles()
MATRIX_CASE = FilesOptions(sizes=["64 KiB"], records=["64 KiB"], operations=["write", "read", "random_write"])
WHOLE = FilesOptions(operations=["fsync", "create", "stat", "unlink"], files=100, records=["4 KiB"])
REREAD = FilesOptions(operations=["reread"], sizes=["1 MiB"], records=["64 KiB"], direct=True)
IN_MEMORY = replace(SHAPE, storage=Storage.TMPFS)


def at(**places: float) -> tuple[Coordinate, ...]:
    return tuple(Coordinate(name, place, "B") for name, place in places.items())


def samples(case: str, options: FilesOptions) -> list[Sample]:
    return FILES.samples(options, recorded("files", case))


def sections(options: FilesOptions) -> dict[str, list[str]]:
    """Name → lines of each job in the file."""
    text = FILES.job(options, SHAPE).files[JOB_FILE]
    parts = [part.strip().split("\n") for part in text.split("\n\n")]
    return {lines[0].strip("[]"): lines[1:] for lines in parts}


def test_each_operation_has_a_rate_at_each_place() -> None:
    result = samples("matrix", MATRIX_CASE)
    assert {sample.name for sample in result} == {
        "write_byte_per_s",
        "read_byte_per_s",
        "random_write_byte_per_s",
    }
    assert {sample.coordinates for sample in result} == {at(size=65536.0, record=65536.0)}
    assert {(sample.unit, sample.direction) for sample in result} == {("B/s", Direction.MORE)}


def test_rates_are_bytes_by_the_nanoseconds_of_the_calls() -> None:
    """fio's own rate is of whole milliseconds: 1 MiB in "1 ms" is 1048576000 B/s whatever it took."""
    text = recorded("files", "matrix").files[RESULT]
    assert '"bw_bytes" : 1048576000' in text
    assert all(sample.value != 1048576000 for sample in samples("matrix", MATRIX_CASE))


def test_fsync_has_percentiles_by_record_and_whole_files_have_rates_by_their_number() -> None:
    result = {sample.name: sample for sample in samples("whole-files", WHOLE)}
    times = [result[name] for name in ("fsync_p50_s", "fsync_p90_s", "fsync_p99_s")]
    assert [time.value for time in times] == sorted(time.value for time in times)
    assert {time.coordinates for time in times} == {at(record=4096.0)}
    for name in ("create_per_s", "stat_per_s", "unlink_per_s"):
        assert result[name].coordinates == (Coordinate("files", 100.0, None),)


def test_what_was_done_for_another_operation_alone_is_no_figure() -> None:
    (only,) = samples("read-and-verified", REREAD)
    assert only.name == "reread_byte_per_s"


@pytest.mark.parametrize("case", ["no-space", "matrix", "whole-files"])
def test_the_run_of_another_campaign_or_without_room_is_wrong(case: str) -> None:
    asked = FilesOptions(sizes=["1 MiB"], records=["64 KiB"], operations=["write"])
    with pytest.raises(WrongOutput, match="fio"):
        samples(case, asked)


@pytest.mark.parametrize(
    ("text", "other", "message"),
    [
        ('"error" : 0', '"error" : 84', "ended with error 84"),
        ('"total_ios" : 16', '"total_ios" : 15', "made 15 calls instead of 16"),
        ('"io_bytes" : 1048576', '"io_bytes" : 1048575', "1048575 bytes instead of 1048576"),
    ],
)
def test_a_job_that_failed_or_did_less_is_wrong(text: str, other: str, message: str) -> None:
    output = recorded("files", "matrix")
    assert text in output.files[RESULT]
    with pytest.raises(WrongOutput, match=message):
        FILES.samples(MATRIX_CASE, with_file(output, RESULT, output.files[RESULT].replace(text, other)))


def test_a_run_that_compared_less_than_it_wrote_is_wrong() -> None:
    """The last job writes, then reads everything back."""
    output = recorded("files", "matrix")
    before, last = output.files[RESULT].rsplit('"jobname"', 1)
    text = f'{before}"jobname"{last.replace("1048576,", "65536,", 1)}'
    with pytest.raises(WrongOutput, match="compared 65536 bytes instead of 1048576"):
        FILES.samples(MATRIX_CASE, with_file(output, RESULT, text))


def test_notes_of_fio_may_stand_before_its_json() -> None:
    output = recorded("files", "matrix")
    noted = with_file(output, RESULT, f"fio: this is noted\n{output.files[RESULT]}")
    assert FILES.samples(MATRIX_CASE, noted) == FILES.samples(MATRIX_CASE, output)


@given(
    operations=st.lists(st.sampled_from(MATRIX), min_size=1, unique=True),
    sizes=st.lists(
        st.sampled_from([1 << power for power in range(12, 25)]), min_size=1, max_size=3, unique=True
    ),
    records=st.lists(
        st.sampled_from([1 << power for power in range(9, 13)]), min_size=1, max_size=3, unique=True
    ),
)
def test_each_place_moves_the_same_bytes_in_every_operation_and_is_compared_once(
    operations: list[Operation], sizes: list[int], records: list[int]
) -> None:
    options = FilesOptions(
        operations=operations, sizes=list(map(format_byte, sizes)), records=list(map(format_byte, records))
    )
    for size, record in options.points:
        jobs = [job for job in options.jobs if (job.size_byte, job.record_byte) == (size, record)]
        moved = {job.calls * record for job in jobs}
        assert len(moved) == 1
        assert MEBIBYTE <= moved.pop() < MEBIBYTE + size or size > MEBIBYTE
        assert [job.verifies for job in jobs] == [False] * (len(jobs) - 1) + [True]
        assert jobs[0].operation == "write"
        assert set(operations) <= {job.operation for job in jobs}


def test_files_are_written_anew_and_their_content_is_compared_once_and_untimed() -> None:
    jobs = sections(MATRIX_CASE)
    assert list(jobs) == ["global", "write 65536 65536", "read 65536 65536", "random_write 65536 65536"]
    assert {"nrfiles=16", "filesize=65536", "rw=write", "verify=crc32c", "do_verify=0"} <= set(
        jobs["write 65536 65536"]
    )
    assert not [line for line in jobs["read 65536 65536"] if line.startswith(("verify", "unlink"))]
    assert {"rw=randwrite", "do_verify=1", "verify_fatal=1", "unlink=1"} <= set(
        jobs["random_write 65536 65536"]
    )


def test_nothing_is_bounded_by_time() -> None:
    every = FilesOptions(operations=[*MATRIX, *WHOLE.operations])
    assert not [
        line for lines in sections(every).values() for line in lines if "time" in line and "clock" not in line
    ]


def test_the_primary_figures_are_those_of_the_chosen_operations() -> None:
    workload = Workload(name="x", kind="files", options={"operations": ["random_read", "fsync"]})
    assert primary_metrics(workload) == ("random read", "fsync")


def test_instances_have_files_of_their_own() -> None:
    texts = [FILES.job(WHOLE, replace(SHAPE, instance=number)).files[JOB_FILE] for number in (0, 1)]
    names = [{line for line in text.splitlines() if line.startswith("filename_format")} for text in texts]
    assert not names[0] & names[1]


@pytest.mark.parametrize(
    ("options", "folder"),
    [({}, "/var/tmp"), ({"medium": "work"}, "."), ({"directory": "/scratch"}, "/scratch")],
)
def test_files_lie_where_the_campaign_wants_them(options: dict[str, str], folder: str) -> None:
    assert f"directory={folder}" in sections(FilesOptions.model_validate(options))["global"]


def test_direct_transfers_in_memory_are_refused() -> None:
    with pytest.raises(InputError, match='write storage = "disk"'):
        FILES.job(REREAD, IN_MEMORY)
    assert FILES.job(REREAD, SHAPE)
    assert FILES.job(FilesOptions(direct=True, directory="/scratch"), IN_MEMORY)


def test_files_that_do_not_fit_into_memory_are_refused() -> None:
    large = FilesOptions(sizes=["2 GiB"], records=["1 MiB"])
    with pytest.raises(
        InputError, match="2 GiB of memory, where the nodes' layers lie, but an instance has 1 GiB"
    ):
        FILES.job(large, IN_MEMORY)
    assert FILES.job(large, replace(IN_MEMORY, memory_byte=3 * GIBIBYTE))
    assert FILES.job(large, SHAPE)


def test_one_process_does_not_span_nodes() -> None:
    span = Span(hosts=("n0", "n1"), subnet="198.18.0.0/24")
    with pytest.raises(InputError, match="files is one process"):
        FILES.job(WHOLE, replace(SHAPE, span=span))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": ["1 KiB"], "records": ["4 KiB"]}, "every record is larger than every file"),
        ({"sizes": ["96 KiB"], "records": ["64 KiB"]}, "do not divide a file of 96 KiB"),
        ({"records": ["1000 B"]}, "multiple of 512 bytes"),
        ({"sizes": ["64 KiB", "64 KiB"]}, "stands there twice"),
        ({"sizes": ["512 B"], "records": ["512 B"], "moved": "1 GiB"}, "more than 4096 files"),
        ({"directory": "scratch"}, "not an absolute path"),
        ({"directory": "/a:b"}, "not an absolute path"),
        ({"directory": "/a", "medium": "work"}, "either medium or directory"),
        ({"operations": []}, "at least 1 item"),
        ({"syncs": 10}, "greater than or equal to 100"),
    ],
)
def test_a_matrix_without_sense_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        FilesOptions.model_validate(options)


def test_iozones_whole_matrix_can_be_asked_for() -> None:
    sizes = [format_byte(64 * KIBIBYTE << power) for power in range(15)]
    records = [format_byte(4 * KIBIBYTE << power) for power in range(13)]
    options = FilesOptions(sizes=sizes, records=records, moved="64 KiB")
    assert (len(options.points), len(options.jobs)) == (159, 954)
