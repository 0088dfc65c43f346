# SPDX-License-Identifier: Apache-2.0
"""What a node left is kept and read, but nothing that it left can harm or hang the host."""

import os
from pathlib import Path

import pytest
from tests.measure.measure_nodes import node_spec

from tare.environments.fake import Fake
from tare.errors import WrongOutput
from tare.measure import instances as module
from tare.measure import trial
from tare.measure.instances import Instance
from tare.measure.seats import Seat
from tare.measure.trial import keep
from tare.measure.ways import Ways
from tare.nodes.files import opened_inside
from tare.nodes.provider import Node
from tare.workloads.kind import Job, Shape

MEBIBYTE = 1 << 20


def printed_in(instance: Instance) -> Path:
    """Beside the command's own folder."""
    return instance.work / f"{instance.name}.output"


@pytest.fixture
def instance(tmp_path: Path) -> Instance:
    spec = node_spec(tmp_path / "state")
    node = Node(spec=spec, init_pid=None)
    seat = Seat(
        number=1,
        node=node,
        provider=Fake(),
        members=(node,),
        member_provider=Fake(),
        processors=(0,),
        shape=Shape(processors=1, memory_byte=MEBIBYTE, instance=1, tools_directory="/tools"),
        ways=Ways(),
    )
    job = Job(argv=("true",), collect=("result.txt", "deep/result2.txt"))
    made = Instance(seat=seat, job=job, limit_s=600.0)
    made.folder.mkdir(parents=True)
    printed_in(made).mkdir()
    (printed_in(made) / "stdout").write_text("printed")
    (printed_in(made) / "stderr").write_text("")
    return made


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "stdout").write_text("secret")
    (tmp_path / "host" / "result.txt").write_text("secret")
    return tmp_path / "host"


def kept(instance: Instance, folder: Path) -> dict[str, bytes]:
    keep(folder / "raw", [instance])
    return {path.name: path.read_bytes() for path in folder.glob("raw/*")}


def test_what_was_printed_and_left_is_kept_and_empty_output_is_not(
    instance: Instance, tmp_path: Path
) -> None:
    (instance.folder / "deep").mkdir()
    (instance.folder / "deep" / "result2.txt").write_bytes(b"\xff\0 figures")
    assert kept(instance, tmp_path) == {"i1.stdout": b"printed", "i1.result2.txt": b"\xff\0 figures"}


def test_nothing_printed_makes_no_folder(instance: Instance, tmp_path: Path) -> None:
    (printed_in(instance) / "stdout").unlink()
    assert kept(instance, tmp_path) == {}
    assert not (tmp_path / "raw").exists()


def test_a_long_output_loses_its_middle_and_says_so(instance: Instance, tmp_path: Path) -> None:
    (printed_in(instance) / "stdout").write_bytes(b"A" * MEBIBYTE + b"B" * MEBIBYTE)
    text = kept(instance, tmp_path)["i1.stdout"]
    half = MEBIBYTE // 2
    assert text == b"A" * half + trial._CUT + b"B" * half


def test_output_of_the_longest_kept_size_is_whole(instance: Instance, tmp_path: Path) -> None:
    (printed_in(instance) / "stdout").write_bytes(b"A" * MEBIBYTE)
    assert kept(instance, tmp_path)["i1.stdout"] == b"A" * MEBIBYTE


class TestTraps:
    """Each is laid where an output belongs; it is neither kept nor read, and nobody waits for it."""

    def check(self, instance: Instance, folder: Path) -> None:
        assert kept(instance, folder) == {}
        assert instance.output().stdout == ""
        assert instance.output().files == {}

    def test_a_link_to_a_file_of_the_host(self, instance: Instance, secret: Path, tmp_path: Path) -> None:
        (printed_in(instance) / "stdout").unlink()
        (printed_in(instance) / "stdout").symlink_to(secret / "stdout")
        (instance.folder / "result.txt").symlink_to(secret / "result.txt")
        self.check(instance, tmp_path)

    def test_a_link_in_the_place_of_the_folder(
        self, instance: Instance, secret: Path, tmp_path: Path
    ) -> None:
        printed_in(instance).rename(instance.work / "away")
        printed_in(instance).symlink_to(secret)
        self.check(instance, tmp_path)

    def test_a_link_in_the_place_of_the_instances_folder(
        self, instance: Instance, secret: Path, tmp_path: Path
    ) -> None:
        instance.folder.rename(instance.folder.with_name("away"))
        (printed_in(instance) / "stdout").unlink()
        instance.folder.symlink_to(secret)
        self.check(instance, tmp_path)

    def test_a_pipe_that_nobody_writes_to(self, instance: Instance, tmp_path: Path) -> None:
        (printed_in(instance) / "stdout").unlink()
        os.mkfifo(printed_in(instance) / "stdout")
        os.mkfifo(instance.folder / "result.txt")
        self.check(instance, tmp_path)

    def test_a_directory(self, instance: Instance, tmp_path: Path) -> None:
        (printed_in(instance) / "stdout").unlink()
        (printed_in(instance) / "stdout").mkdir()
        (instance.folder / "result.txt").mkdir()
        self.check(instance, tmp_path)

    @pytest.mark.root
    @pytest.mark.skipif(os.geteuid() != 0, reason="needs root for device nodes")
    def test_a_device_that_never_ends(self, instance: Instance, tmp_path: Path) -> None:
        (printed_in(instance) / "stdout").unlink()
        os.mknod(printed_in(instance) / "stdout", 0o020666, os.makedev(1, 5))
        self.check(instance, tmp_path)


def test_an_endless_output_is_wrong_output_with_its_beginning(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_OUTPUT_LIMIT_BYTE", 3 * MEBIBYTE)
    (printed_in(instance) / "stdout").write_bytes(b"y" * (3 * MEBIBYTE + 1))
    with pytest.raises(WrongOutput, match=r"stdout is longer than 3 MiB") as caught:
        instance.output()
    assert caught.value.excerpt == "y" * 2000


def test_missing_output_is_empty_and_missing_files_are_left_out(instance: Instance) -> None:
    (printed_in(instance) / "stdout").unlink()
    (instance.folder / "result.txt").write_bytes(b"a\xffb")
    output = instance.output()
    assert (output.stdout, output.stderr) == ("", "")
    assert output.files == {"result.txt": "a\ufffdb"}


@pytest.mark.parametrize("name", ["absent", "a/b/absent", "file/below"])
def test_a_name_that_leads_nowhere_is_none_and_leaves_no_descriptor(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - only their number is wanted
    with opened_inside(tmp_path, name) as opened:
        assert opened is None
    with opened_inside(tmp_path / "absent", name) as opened:
        assert opened is None
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - the same


@pytest.mark.parametrize("name", ["../outside", "a/../../outside", "/etc/passwd"])
def test_no_name_leads_out(name: str, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("secret")
    (tmp_path / "work" / "a").mkdir(parents=True)
    with opened_inside(tmp_path / "work", name) as opened:
        assert opened is None
