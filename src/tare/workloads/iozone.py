# SPDX-License-Identifier: Apache-2.0
"""IOzone itself, where the image has it: the tables of its option -R as rates over file and record size.

In: the program's path and the range of sizes. Out: its launch, and KiB/s as B/s. Source: the help of iozone 3.489, and
"Iozone Filesystem Benchmark" (iozone.org), which describe the options and the tables.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from tare.errors import WrongOutput
from tare.records import Coordinate, Direction, Range, Sample
from tare.units import KIBIBYTE, MEBIBYTE, format_byte, parse_byte
from tare.workloads import excerpt
from tare.workloads.file_place import PlaceOptions, file_name, require_place
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind, own

_Test = Literal["write", "read", "random"]
_TESTS: Mapping[_Test, tuple[str, Mapping[str, str]]] = {
    "write": ("0", {"Writer": "write", "Re-writer": "rewrite"}),
    "read": ("1", {"Reader": "read", "Re-Reader": "reread"}),
    "random": ("2", {"Random read": "random_read", "Random write": "random_write"}),
}
"""Test → IOzone's number, and its tables with our names."""
_START = "Excel output is below:\n"
_TITLE = re.compile(r'"([A-Za-z -]{1,30}) report"', re.ASCII)
_ROW = re.compile(r'"(\d{1,12})"((?: +\d{1,15})*) *', re.ASCII)
_HEAD = re.compile(r'\s*(?:"\d{1,12}" *)+', re.ASCII)
_VERSION = re.compile(r"Version \$Revision: (\S{1,20}) \$")
_GUESSED_BYTE_PER_S = 500e6
_POINT_S = 0.02
_Table = dict[tuple[int, int], int]
"""Size and record in bytes → KiB/s."""


def _power_of_two(text: str) -> str:
    size_byte = parse_byte(text)
    if not KIBIBYTE <= size_byte <= 1 << 40 or size_byte & (size_byte - 1):
        raise ValueError(f"{text!r} must be a power of two from 1 KiB to 1 TiB, as IOzone doubles its sizes")
    return text


def _usual_tests() -> list[_Test]:
    return ["write", "read"]


_Size = Annotated[str, AfterValidator(_power_of_two)]


class IozoneOptions(PlaceOptions):
    """Which IOzone, and the matrix that it goes through: sizes double from the smallest to the largest."""

    program: Annotated[str, Field(min_length=1)] = "iozone"
    """A path in the node, or a name on its PATH."""
    tests: list[_Test] = Field(default_factory=_usual_tests, min_length=1)
    smallest: _Size = "64 KiB"
    largest: _Size = "16 MiB"
    smallest_record: _Size = "4 KiB"
    largest_record: _Size = "64 KiB"

    @property
    def points(self) -> tuple[tuple[int, int], ...]:
        """Size and record of each point, in bytes; no record is larger than its file."""
        sizes = _doubled(self.smallest, self.largest)
        records = tuple(_doubled(self.smallest_record, self.largest_record))
        return tuple((size, record) for size in sizes for record in records if record <= size)

    @model_validator(mode="after")
    def _check_matrix(self) -> Self:
        if "write" not in self.tests:
            raise ValueError('IOzone reads what its test "write" has written; add it to tests')
        if len(set(self.tests)) < len(self.tests):
            raise ValueError("a value of tests stands there twice; keep each once")
        if not 0 < parse_byte(self.largest_record) <= 16 * MEBIBYTE:
            raise ValueError("IOzone's records are at most 16 MiB")
        for least, most in ((self.smallest, self.largest), (self.smallest_record, self.largest_record)):
            if parse_byte(least) > parse_byte(most):
                raise ValueError(f"{least} is more than {most}")
        if parse_byte(self.smallest_record) > parse_byte(self.smallest):
            raise ValueError("IOzone has no point for a file smaller than every record; raise smallest")
        return self


def _doubled(least: str, most: str) -> Iterator[int]:
    size_byte = parse_byte(least)
    while size_byte <= parse_byte(most):
        yield size_byte
        size_byte *= 2


class Iozone(WorkloadKind):
    """The user's own IOzone, as Debian's is not free software."""

    name = "iozone"
    options_model: type[Options] = IozoneOptions
    primary_metric = "write"

    def ranges(self, options: Options) -> tuple[Range, ...]:
        """One figure for each table, over all its points."""
        return tuple(
            Range(name=each.replace("_", " "), metric=_metric(each))
            for each in _tables(own(IozoneOptions, options)).values()
        )

    def expected_s(self, options: Options, shape: Shape) -> float | None:
        chosen = own(IozoneOptions, options)
        moved_byte = 2 * len(chosen.tests) * sum(size_byte for size_byte, _ in chosen.points)
        return len(chosen.points) * _POINT_S + moved_byte / _GUESSED_BYTE_PER_S

    def job(self, options: Options, shape: Shape) -> Job:
        chosen = own(IozoneOptions, options)
        largest_byte = max(size_byte for size_byte, _ in chosen.points)
        require_place(self.name, chosen, shape, largest_byte + parse_byte(chosen.largest_record))
        bounds = {
            "-n": chosen.smallest,
            "-g": chosen.largest,
            "-y": chosen.smallest_record,
            "-q": chosen.largest_record,
        }
        return Job(
            argv=(
                *(chosen.program, "-R", "-a", "-z"),
                *(word for test in chosen.tests for word in ("-i", _TESTS[test][0])),
                *(
                    word
                    for name, text in bounds.items()
                    for word in (name, f"{parse_byte(text) // KIBIBYTE}k")
                ),
                *(("-I",) if chosen.direct else ()),
                *("-f", f"{chosen.folder}/{file_name(self.name, shape)}"),
            ),
            direct=chosen.direct,
        )

    def samples(self, options: Options, output: Output) -> list[Sample]:
        chosen = own(IozoneOptions, options)
        tables = parse_tables(output.stdout)
        return [
            sample
            for title, name in _tables(chosen).items()
            for sample in _samples(name, tables.get(title, {}), chosen.points, output.stdout)
        ]

    def facts(self, options: Options, output: Output) -> dict[str, str]:
        chosen = own(IozoneOptions, options)
        version = _VERSION.search(output.stdout)
        facts = {
            "iozone medium": chosen.place,
            "iozone verified": "nothing: IOzone compares no data by itself",
        }
        return facts | ({"iozone version": excerpt.printable(version[1])} if version else {})


def _tables(options: IozoneOptions) -> dict[str, str]:
    """Title of each table → our name."""
    return {title: name for test in options.tests for title, name in _TESTS[test][1].items()}


def _metric(name: str) -> str:
    return f"{name}_byte_per_s"


def parse_tables(stdout: str) -> dict[str, _Table]:
    """Title → table, of all that stand below "Excel output"; ``WrongOutput`` for a line of another kind."""
    _, start, text = stdout.partition(_START)
    if not start or not text.endswith("\n"):
        raise WrongOutput("IOzone's output ends before its tables do", excerpt.tail(stdout))
    tables: dict[str, _Table] = {}
    for block in filter(None, (part.strip("\n") for part in text.split("\n\n"))):
        title, *lines = block.split("\n")
        match = _TITLE.fullmatch(title.strip())
        if not match or not lines or not _HEAD.fullmatch(lines[0]):
            raise WrongOutput(
                f"IOzone has {excerpt.printable(title[:60])!r} where a table's title was to be",
                excerpt.tail(stdout),
            )
        tables[match[1]] = _table(lines, stdout)
    return tables


def _table(lines: list[str], stdout: str) -> _Table:
    records = [int(text) for text in re.findall(r"\d+", lines[0])]
    table: _Table = {}
    for line in lines[1:]:
        match = _ROW.fullmatch(line)
        rates = [int(text) for text in match[2].split()] if match else []
        if not match or len(rates) > len(records):
            raise WrongOutput(
                f"IOzone has the row {excerpt.printable(line[:80])!r}",
                excerpt.around(stdout, stdout.find(line)),
            )
        # A row lacks the records that are larger than the file, which are the last ones.
        for record, rate in zip(records, rates, strict=False):
            table[int(match[1]) * KIBIBYTE, record * KIBIBYTE] = rate
    return table


def _samples(name: str, table: _Table, points: tuple[tuple[int, int], ...], stdout: str) -> Iterator[Sample]:
    for size_byte, record_byte in points:
        rate = table.get((size_byte, record_byte))
        if not rate:
            raise WrongOutput(
                f"IOzone has no {name} of {format_byte(size_byte)} in records of {format_byte(record_byte)}",
                excerpt.tail(stdout),
            )
        at = (Coordinate("size", float(size_byte), "B"), Coordinate("record", float(record_byte), "B"))
        value = float(rate * KIBIBYTE)
        yield Sample(name=_metric(name), value=value, unit="B/s", direction=Direction.MORE, coordinates=at)
