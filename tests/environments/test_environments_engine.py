# SPDX-License-Identifier: Apache-2.0
"""What Docker and Podman share, without either: words, identities, images and what is kept of them."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.environments.engine_words import StandIn, mounts
from tests.environments.environment_example import described

from tare.engines import engine, engine_images
from tare.environments.libvirt import monitor
from tare.environments.virtualbox import machine
from tare.errors import NodeError
from tare.host import kernel_files
from tare.nodes.provider import Bind

LAYER = "/state/nodes/tare-1/layer"
REMOVE = ("docker", "rm", "--force")


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    (tmp_path / "bin").mkdir()
    return StandIn(tmp_path / "bin", "docker", monkeypatch)


class TestNamesOfProcesses:
    """A process of a node calls itself what it likes, and the host sees it (proc(5), comm)."""

    @pytest.mark.parametrize("name", [b"\xff\xfe", b"a) R 1 1", b"\n\x1b[2J", b"\xed\xa0\x80"])
    def test_one_that_is_no_text_breaks_nobody_who_looks(self, name: bytes) -> None:
        script = (
            f"import sys; open('/proc/self/comm', 'wb').write({name!r}); print(flush=True); sys.stdin.read()"
        )
        argv = [sys.executable, "-IS", "-c", script]
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            assert not engine.is_called(child.pid, "dockerd")
            assert engine._parent(child.pid) == os.getpid()
            assert kernel_files.inner_numbers(child.pid)[0] == child.pid
            assert machine.threads(child.pid).keys() == {child.pid}
            assert monitor.processor_threads(child.pid) == []

    def test_every_process_is_asked_for_its_name_once_however_many_names_are_looked_for(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: Counter[str] = Counter()

        def counted(path: str) -> str | None:
            asked[path] += 1
            return kernel_files.read_text(path)

        monkeypatch.setattr(engine, "read_text", counted)
        own = Path("/proc/self/comm").read_text().strip()
        assert os.getpid() in engine.called("nobody's", own, "dockerd")
        assert set(asked.values()) == {1}


class TestOptions:
    @pytest.mark.parametrize("value", ["layer", "own"])
    def test_a_value_that_is_known_is_taken(self, value: str) -> None:
        assert engine.check_storage({"storage": value}) == {}

    @pytest.mark.parametrize("value", ["disk", "", 1, ["own"]])
    def test_any_other_names_the_known_ones(self, value: str) -> None:
        (complaint,) = engine.check_storage({"storage": value}).values()
        assert complaint == f'must be "layer" or "own", but is {value!r}'

    def test_a_node_is_not_started_with_a_complaint(self) -> None:
        with pytest.raises(NodeError, match='the option storage must be "layer" or "own"'):
            engine.require(engine.check_storage({"storage": "disk"}))
        engine.require({})


class TestMounts:
    def test_bound_folders_are_guarded_unless_asked(self) -> None:
        binds = (Bind(path=Path("/data/in put")), Bind(path=Path("/data/out#\\1"), writable=True))
        assert mounts(engine.shared_mounts(described(binds=binds))) == [
            {"type": "bind", "source": f"{LAYER}/work", "target": "/mnt/tare"},
            {"type": "bind", "source": f"{LAYER}/bound/0", "target": "/data/in put", "readonly": ""},
            {"type": "bind", "source": f"{LAYER}/bound/1", "target": "/data/out#\\1"},
        ]

    @pytest.mark.parametrize("name", ["a:b", "a,b", 'a"b', "a,readonly", "a=b"])
    def test_a_name_cannot_become_an_option(self, name: str) -> None:
        spec = described(Path("/state") / name, binds=(Bind(path=Path("/data") / name),))
        work, bound = mounts(engine.shared_mounts(spec))
        assert work == {"type": "bind", "source": f"/state/{name}/layer/work", "target": "/mnt/tare"}
        assert bound["target"] == f"/data/{name}"


class TestRemoval:
    @pytest.mark.parametrize("written", [None, "", "\n"])
    def test_without_an_identity_nothing_is_known(
        self, written: str | None, docker: StandIn, tmp_path: Path
    ) -> None:
        docker.does("")
        spec = described(tmp_path)
        if written is not None:
            (tmp_path / "container.id").write_text(written)
        assert not engine.remove_known(REMOVE, spec)
        assert docker.asked() == []

    def test_the_written_identities_are_removed_without_asking_for_more(
        self, docker: StandIn, tmp_path: Path
    ) -> None:
        docker.does("")
        (tmp_path / "container.id").write_text("abc\n")
        (tmp_path / "pause.id").write_text("def\n")
        assert engine.remove_known(REMOVE, described(tmp_path), "pause", "other")
        assert docker.asked() == ["rm --force abc def"]

    def test_when_only_another_container_was_started_the_label_is_asked_for(
        self, docker: StandIn, tmp_path: Path
    ) -> None:
        docker.does("")
        (tmp_path / "pause.id").write_text("def\n")
        assert not engine.remove_known(REMOVE, described(tmp_path), "pause")

    def test_a_removal_that_is_on_its_way_is_waited_for(self, docker: StandIn, tmp_path: Path) -> None:
        docker.does("[ $1 = ps ] || { : > {folder}/gone; exit 1; }\n[ -e {folder}/gone ] || echo abc\n")
        engine.remove_labelled(("docker",), REMOVE, described(tmp_path))
        listing = "ps --all --quiet --filter label=tare.node=tare-1"
        assert docker.asked() == [listing, "rm --force abc", listing]

    def test_a_container_that_stays_is_named(
        self, docker: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(engine, "_REMOVAL_LIMIT_S", 0.0)
        docker.does("[ $1 = ps ] && { echo abc; exit 0; }\necho busy >&2; exit 1\n")
        with pytest.raises(NodeError, match="docker does not remove the container tare-1: busy"):
            engine.remove_labelled(("docker",), REMOVE, described(tmp_path))


class TestImages:
    def test_the_reference_is_the_digests_beginning(self) -> None:
        assert engine_images.reference("sha256:" + "ab" * 32) == "tare:" + "ab" * 12

    def test_what_tare_imported_is_removed_unless_an_image_of_the_state_folder_has_its_digest(
        self, docker: StandIn, state: Path
    ) -> None:
        for name, text in (("one", json.dumps({"digest": "sha256:1"})), ("two", "{"), ("three", "[]")):
            (state / "images" / name).mkdir(parents=True)
            (state / "images" / name / "manifest.json").write_text(text)
        names = (
            "tare:0",
            "tare:1",
            "localhost/tare:2",
            "tare:3",
            "mine:latest",
            "tare-outline:4",
            "<none>:<none>",
        )
        lines = [f"'{identity} {name}'" for identity, name in enumerate(names)]
        docker.does('[ $1 = images ] && printf "%s\n" ' + " ".join(lines))
        engine_images.remove_old(("docker",), "sha256:0")
        listing, *removals = docker.asked()
        assert listing == "images --filter label=tare.image --format {{.ID}} {{.Repository}}:{{.Tag}}"
        assert removals == ["image rm localhost/tare:2", "image rm tare:3", "image rm 6"]

    def test_an_engine_that_cannot_tell_its_images_loses_none(self, docker: StandIn) -> None:
        docker.does("echo 1 tare:old; exit 1")
        engine_images.remove_old(("docker",), "sha256:0")
        assert len(docker.asked()) == 1

    def test_half_an_import_is_not_taken_for_an_image(self, docker: StandIn, tmp_path: Path) -> None:
        (tmp_path / "root").mkdir()
        docker.does('[ "$1 $2" = "image inspect" ] && exit 1\ncat >/dev/null\n')
        tar = tmp_path / "bin" / "tar"
        tar.write_text('#!/bin/sh\n/bin/tar "$@"\nexit 2\n')
        tar.chmod(0o755)
        with pytest.raises(NodeError, match="docker cannot import the image: tar ended with 2"):
            engine_images.ensure(("docker",), tmp_path / "root", "tare:x")
        assert docker.asked()[-1] == "image rm --force tare:x"

    def test_an_image_that_is_there_is_not_imported_again(self, docker: StandIn, tmp_path: Path) -> None:
        docker.does("")
        engine_images.ensure(("docker",), tmp_path, "tare:x")
        assert docker.asked() == ["image inspect --format {{.Id}} tare:x"]
