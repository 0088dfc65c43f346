# SPDX-License-Identifier: Apache-2.0
"""mpiio: only a run whose every byte was verified counts, a warm file never passes for a cold one."""

import json
from dataclasses import replace

import pytest
from tests.workloads.recorded import SHAPE, recorded

from tare.errors import InputError, WrongOutput
from tare.records import Storage
from tare.units import MEBIBYTE
from tare.workloads.kind import Output, Span
from tare.workloads.mpiio import Mpiio, MpiioOptions
from tare.workloads.mpiio.metrics import PRIMARY

WRITTEN = recorded("mpiio", "write-two-ranks")
COLD = recorded("mpiio", "read-cold")
SIZES = ["4 KiB", "64 KiB", "1 MiB"]
SPAN = Span(hosts=("a", "b"), subnet="198.18.0.0/16")


def options(**given: object) -> MpiioOptions:
    return MpiioOptions.model_validate(given)


COLD_OPTIONS = options(operation="read", records=SIZES, cold=True)


def changed(output: Output, **fields: object) -> Output:
    return replace(output, stdout=json.dumps({**json.loads(output.stdout), **fields}, separators=(",", ":")))


def with_point(output: Output, **fields: object) -> Output:
    first, *rest = json.loads(output.stdout)["points"]
    return changed(output, points=[{**first, **fields}, *rest])


def rank_times(output: Output, phase: str, point: int = 0) -> list[float]:
    phases = json.loads(output.stdout)["points"][point]["phases"]
    return [rank["wall_s"] for each in phases if each["phase"] == phase for rank in each["ranks"]]


def test_bandwidth_is_of_all_bytes_by_the_slowest_rank_until_they_are_on_the_medium() -> None:
    values = {sample.name: sample.value for sample in Mpiio().samples(options(), WRITTEN)}
    write_s, sync_s = rank_times(WRITTEN, "write"), rank_times(WRITTEN, "sync")
    total_byte = 2 * 16 * MEBIBYTE
    slowest_s = max(map(sum, zip(write_s, sync_s, strict=True)))
    assert values[PRIMARY] == pytest.approx(total_byte / slowest_s)
    assert values["write_byte_per_s"] == pytest.approx(total_byte / max(write_s))
    assert (values["write_least_s"], values["write_s"]) == (min(write_s), max(write_s))
    assert values["write_mean_s"] == pytest.approx(sum(write_s) / 2)
    assert values["write_rank_most_byte_per_s"] == pytest.approx(16 * MEBIBYTE / min(write_s))
    assert {f"{phase}_s" for phase in ("create", "write", "sync", "close")} <= set(values)


def test_several_record_sizes_make_a_curve_and_their_geometric_mean_the_headline() -> None:
    samples = Mpiio().samples(COLD_OPTIONS, COLD)
    curve = {sample.coordinates[0].value: sample.value for sample in samples if sample.coordinates}
    assert list(curve) == [4096.0, 65536.0, 1048576.0]
    assert {(each.name, each.unit) for sample in samples for each in sample.coordinates} == {("record", "B")}
    along = [sample.value for sample in samples if sample.name == PRIMARY and sample.coordinates]
    (headline,) = (sample.value for sample in samples if sample.name == PRIMARY and not sample.coordinates)
    assert headline**3 == pytest.approx(along[0] * along[1] * along[2])


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (with_point(WRITTEN, wrong_byte=1), "and 1 were wrong"),
        (with_point(WRITTEN, verified_byte=1), "1 were verified"),
        (with_point(WRITTEN, record_byte=4096), "1 files were to be measured"),
        (with_point(WRITTEN, phases=[]), "not the phases create"),
        (changed(WRITTEN, ranks=3), "were verified"),
        (changed(WRITTEN, pattern="own"), "pattern = strided was asked, own ran"),
        (changed(WRITTEN, repetitions=2), "repetitions = 1 was asked"),
        (changed(WRITTEN, points=[]), "1 files were to be measured, 0 were"),
    ],
)
def test_an_unverified_incomplete_or_other_run_is_wrong(broken: Output, reason: str) -> None:
    with pytest.raises(WrongOutput, match=reason):
        Mpiio().samples(options(), broken)


def test_a_byte_that_was_changed_on_the_disk_is_a_wrong_run() -> None:
    with pytest.raises(WrongOutput, match="33554432 were verified and 1 were wrong"):
        Mpiio().samples(options(operation="read"), recorded("mpiio", "wrong-byte"))


@pytest.mark.parametrize(
    ("warm", "reason"),
    [
        (with_point(COLD, cached_byte=4096), "still cached was 4096 bytes"),
        (with_point(COLD, cached_byte=None), "still cached is not known"),
        (changed(COLD, file_system=0x01021994), "/var/tmp is a tmpfs, which lies in memory"),
    ],
)
def test_what_is_warm_or_may_be_is_refused_as_cold(warm: Output, reason: str) -> None:
    with pytest.raises(WrongOutput, match=reason):
        Mpiio().samples(COLD_OPTIONS, warm)
    assert Mpiio().samples(options(operation="read", records=SIZES), warm)


def test_the_facts_say_where_the_file_lay_and_what_of_it_was_cached() -> None:
    facts = Mpiio().facts(COLD_OPTIONS, COLD)
    assert facts["mpiio cached before the read"] == "cold: at most 0 bytes"
    assert facts["mpiio file system"] == "ext4"
    assert facts["mpiio files"] == "one file of all ranks, strided; 2 ranks, 16 MiB of each"
    assert facts["mpiio calls"] == "MPI-IO by ompio, each rank for itself"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"records": ["3 MiB"]}, "do not divide"),
        ({"records": ["1 MiB", "1024 KiB"]}, "stands there twice"),
        ({"records": []}, "at least 1 item"),
        ({"size": "0 B"}, "more than 0 bytes"),
        ({"size": "4 GiB", "records": ["2 GiB"]}, "less than 2 GiB"),
        ({"cold": True}, 'for operation = "read"'),
        ({"cold": True, "operation": "read", "repetitions": 2}, "a cold file can be read once"),
        ({"direct": True}, "MPI-IO has no direct transfers"),
        ({"collective": True, "interface": "posix"}, "has no collective calls"),
        ({"directory": "scratch"}, "no absolute path|not an absolute path"),
        ({"directory": "/scratch", "medium": "work"}, "either medium or directory"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        options(**given)


def test_a_cold_or_direct_transfer_to_memory_is_refused_when_it_is_planned() -> None:
    in_memory = replace(SHAPE, storage=Storage.TMPFS)
    for given in ({"operation": "read", "cold": True}, {"interface": "posix", "direct": True}):
        with pytest.raises(InputError, match="needs a disk, and the nodes' layers lie in memory"):
            Mpiio().job(options(**given), in_memory)
        assert Mpiio().job(options(**given, directory="/scratch"), in_memory)


def test_a_file_of_all_ranks_needs_a_folder_that_the_nodes_share() -> None:
    several = replace(SHAPE, span=SPAN)
    with pytest.raises(InputError, match="nodes share no layer; bind a folder"):
        Mpiio().job(options(), several)
    assert Mpiio().job(options(directory="/scratch"), several)
    assert Mpiio().job(options(pattern="own"), several)


def test_buffers_and_files_in_memory_must_fit() -> None:
    given = {"size": "256 MiB", "records": ["1 MiB", "64 MiB"]}
    in_memory = replace(SHAPE, storage=Storage.TMPFS)
    assert Mpiio().job(options(**given, operation="read"), SHAPE)
    assert Mpiio().job(options(**given), in_memory)  # its files are there one after the other
    with pytest.raises(InputError, match=r"buffers and files need 1\.5 GiB, but an instance has 1 GiB"):
        Mpiio().job(options(**given, operation="read"), in_memory)


def test_a_read_is_prepared_by_the_same_ranks_and_a_cold_one_asks_for_empty_caches() -> None:
    job = Mpiio().job(COLD_OPTIONS, SHAPE)
    assert job.cold
    assert job.prepare[-4:] == ("--keep", "on", "--drop", "on")
    writes, reads = (argv[argv.index("--operation") :] for argv in (job.prepare, job.argv))
    assert [word for word in reads if word != "read"] == [word for word in writes if word != "write"][:-4]
    assert not Mpiio().job(options(), SHAPE).prepare


def test_the_calls_that_move_the_records_are_pinned() -> None:
    together = " ".join(Mpiio().job(options(collective=True), SHAPE).argv)
    assert "-x OMPI_MCA_io=ompio -x OMPI_MCA_fcoll=vulcan" in together
    assert "-x OMPI_MCA_io=^ompio" in " ".join(Mpiio().job(options(library="romio"), SHAPE).argv)


def test_instances_that_share_a_folder_have_files_of_their_own() -> None:
    jobs = [
        Mpiio().job(options(directory="/scratch"), replace(SHAPE, instance=number)).argv for number in (0, 1)
    ]
    assert [argv[-1] for argv in jobs] == ["instance-0", "instance-1"]
