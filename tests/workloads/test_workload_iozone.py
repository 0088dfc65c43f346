# SPDX-License-Identifier: Apache-2.0
"""IOzone's launch, and its tables as real runs of version 3.489 left them."""

import pytest
from pydantic import ValidationError
from tests.workloads.recorded import SHAPE, recorded

from tare.errors import WrongOutput
from tare.records import Coordinate
from tare.units import KIBIBYTE
from tare.workloads.iozone import Iozone, IozoneOptions, parse_tables

IOZONE = Iozone()
RECORDED = IozoneOptions(tests=["write", "read", "random"], largest="1 MiB")


def test_each_table_gives_a_rate_at_each_place() -> None:
    result = IOZONE.samples(RECORDED, recorded("iozone", "matrix"))
    assert len(result) == 6 * len(RECORDED.points) == 150
    places = {sample.coordinates for sample in result}
    assert (Coordinate("size", 65536.0, "B"), Coordinate("record", 65536.0, "B")) in places
    assert len(places) == len(RECORDED.points)


def test_kilobytes_are_of_1024_bytes_as_iozone_counts_them() -> None:
    tables = parse_tables(recorded("iozone", "matrix").stdout)
    (first, *_) = IOZONE.samples(RECORDED, recorded("iozone", "matrix"))
    assert first.name == "write_byte_per_s"
    assert first.value == tables["Writer"][64 * KIBIBYTE, 4 * KIBIBYTE] * KIBIBYTE


def test_a_run_that_gave_up_has_zeros_and_is_wrong() -> None:
    with pytest.raises(WrongOutput, match="IOzone has"):
        IOZONE.samples(IozoneOptions(largest="1 MiB"), recorded("iozone", "file-too-large"))


def test_a_place_that_was_asked_for_and_is_missing_is_wrong() -> None:
    asked = IozoneOptions(largest="2 MiB")
    with pytest.raises(WrongOutput, match="no write of 2 MiB in records of 4 KiB"):
        IOZONE.samples(asked, recorded("iozone", "matrix"))


def test_the_launch_goes_through_all_records_of_the_range_and_nothing_else() -> None:
    argv = IOZONE.job(RECORDED, SHAPE).argv
    assert argv[:4] == ("iozone", "-R", "-a", "-z")
    assert " ".join(argv[4:-2]) == "-i 0 -i 1 -i 2 -n 64k -g 1024k -y 4k -q 64k"
    assert argv[-2:] == ("-f", "/var/tmp/tare-iozone-instance-0")


def test_direct_transfers_are_iozones_own_option() -> None:
    assert "-I" in IOZONE.job(IozoneOptions(direct=True), SHAPE).argv
    assert "-I" not in IOZONE.job(IozoneOptions(), SHAPE).argv


def test_facts_say_the_version_and_that_nothing_is_compared() -> None:
    facts = IOZONE.facts(RECORDED, recorded("iozone", "matrix"))
    assert facts["iozone version"] == "3.489"
    assert facts["iozone verified"].startswith("nothing")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smallest": "96 KiB"}, "power of two"),
        ({"smallest": "1 MiB", "largest": "64 KiB"}, "1 MiB is more than 64 KiB"),
        ({"largest_record": "32 MiB"}, "at most 16 MiB"),
        ({"smallest": "4 KiB", "smallest_record": "8 KiB"}, "smaller than every record"),
        ({"tests": ["read"]}, 'test "write" has written'),
        ({"tests": ["write", "write"]}, "stands there twice"),
    ],
)
def test_a_matrix_that_iozone_does_not_have_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        IozoneOptions.model_validate(options)
