# SPDX-License-Identifier: Apache-2.0
"""Files and folders of other tools become arms; whatever is wrong with them is one message that names the file."""

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.hostile.targets_imports import OUTPUTS

from tare.errors import InputError
from tare.imports import files
from tare.imports.files import read_source
from tare.imports.formats import format_of
from tare.imports.paths import is_imported
from tare.imports.reading import Document
from tare.imports.series import arranged

RECORDED = OUTPUTS / "imports"


def export(path: Path, *commands: str, first_s: float = 1.0) -> Path:
    results = [
        {"command": command, "times": [first_s, 1.1, 1.2], "exit_codes": [0, 0, 0]} for command in commands
    ]
    path.write_text(json.dumps({"results": results}))
    return path


def arms(*sources: Path) -> list[tuple[str, str]]:
    read = arranged([read_source(source) for source in sources])
    return list(dict.fromkeys((series.arm, series.subject) for series in read.series))


def test_a_file_is_an_arm_and_is_called_like_it(tmp_path: Path) -> None:
    native, box = (
        export(tmp_path / "native.json", "a", "b"),
        export(tmp_path / "box.json", "a", "b", first_s=2),
    )
    assert arms(native, box) == [("native", "a"), ("native", "b"), ("box", "a"), ("box", "b")]


def test_the_commands_of_a_single_file_are_its_arms(tmp_path: Path) -> None:
    assert arms(export(tmp_path / "both.json", "./app", "docker run app")) == [
        ("./app", ""),
        ("docker run app", ""),
    ]


def test_the_only_commands_of_two_files_are_taken_for_the_same_work(tmp_path: Path) -> None:
    native, box = (
        export(tmp_path / "native.json", "./app"),
        export(tmp_path / "box.json", "box ./app", first_s=2),
    )
    read = arranged([read_source(native), read_source(box)])
    assert [(series.arm, series.subject) for series in read.series] == [("native", ""), ("box", "")]
    assert read.subjects == ("./app", "box ./app")


def test_systems_within_a_file_are_arms_and_keep_the_files_name_where_there_are_several() -> None:
    composite, log = RECORDED / "phoronix/composite.xml", RECORDED / "reframe/pack.log"
    assert dict(arms(composite)).keys() == {"native", "container"}
    assert dict(arms(composite, log)).keys() == {"composite: native", "composite: container", "pack"}


def test_the_files_of_a_folder_are_runs_of_one_arm_in_the_order_of_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "native"
    folder.mkdir()
    for number, figure in zip((2, 9, 10), ("9.04", "9.14", "9.24"), strict=True):
        text = (RECORDED / "osu/two-runs.txt").read_text()
        (folder / f"run{number}.txt").write_text(text.replace("9.04", figure))
    read = arranged([read_source(folder)])
    (bandwidth,) = [each for each in read.series if each.subject == "MPI Bandwidth Test, 1 B"]
    assert bandwidth.arm == "native"
    assert list(bandwidth.values) == pytest.approx([9.04e6, 9.14e6, 9.24e6])
    assert bandwidth.rounding == pytest.approx(0.005 / 9.04)


def test_a_series_with_a_value_that_is_printed_as_0_is_left_out_and_said() -> None:
    text = (RECORDED / "osu/two-runs.txt").read_text()
    document = Document(text.replace("9.04", "0.00"))
    chosen = format_of(document)
    source = files._source(Path("osu.txt"), "", chosen, (chosen.parse(document),))
    read = arranged([source])
    assert "MPI Bandwidth Test, 1 B" not in {series.subject for series in read.series}
    assert read.left_out == ("osu: MPI Bandwidth Test, 1 B, bandwidth_byte_per_s: a value is printed as 0",)


def test_inputs_of_one_name_and_the_same_measurements_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    first, twin = export(tmp_path / "a.json", "x"), export(tmp_path / "other" / "a.json", "x", first_s=2)
    with pytest.raises(InputError, match=r"two inputs are called a; give one another name: NAME="):
        arms(first, twin)
    with pytest.raises(InputError, match="hold the same measurements"):
        arranged([read_source(first, "a"), read_source(first, "b")])


def test_a_folder_of_several_tools_is_refused(tmp_path: Path) -> None:
    shutil.copy(RECORDED / "osu/two-runs.txt", tmp_path / "a.txt")
    shutil.copy(RECORDED / "imb/seven-runs.txt", tmp_path / "b.txt")
    with pytest.raises(InputError, match="holds files of OSU Micro-Benchmarks and Intel MPI Benchmarks"):
        read_source(tmp_path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "it is empty"),
        (b"\xff\xfe\x00", "no text in UTF-8, at byte 0"),
        (b"{", "cannot be read: "),
        (b"[" * 100_000, "nested|levels deep|cannot be read"),
        (b"hello", "no known tool wrote it"),
        (b'{"results": [], "results": []}', "a key that is there twice"),
        (b'{"results": [{"command": "a"}]}', "has no times"),
        (b'{"results": [{"command": "a", "times": []}]}', "nothing in it counts"),
        (b'{"results": [{"command": "a", "times": [0.0]}]}', "a value is printed as 0"),
        (b'{"results": [{"command": "\\ud800", "times": [1.0]}]}', "cannot be read"),
        (b'{"context": 3, "benchmarks": []}', "no dict"),
        (b'{"session_info": {}, "runs": 5}', "no list"),
        (b"<PhoronixTestSuite>" * 100_000, "XML is broken"),
    ],
)
def test_whatever_is_wrong_is_said_of_the_file(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "strange"
    path.write_bytes(content)
    with pytest.raises(InputError, match=says):
        arms(path)


def test_a_long_file_a_full_folder_and_many_values_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = export(tmp_path / "a.json", "x")
    monkeypatch.setattr(files, "_MOST_READINGS", 2)
    with pytest.raises(InputError, match="holds 3 values; 2 are the most"):
        read_source(path)
    monkeypatch.setattr(files, "MOST_CHARACTERS", 10)
    with pytest.raises(InputError, match="it is longer than"):
        read_source(path)
    monkeypatch.setattr(files, "_MOST_FILES", 0)
    with pytest.raises(InputError, match="holds 1 files; 0 are the most"):
        read_source(tmp_path)


def test_neither_results_of_tare_nor_pipes_nor_empty_folders_are_taken_for_imports(tmp_path: Path) -> None:
    (tmp_path / "result" / "journal").mkdir(parents=True)
    (tmp_path / "result" / "report.html").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").mkdir()
    assert [is_imported(tmp_path / name) for name in ("result", "pipe", "empty", "nosuch")] == [False] * 4
