# SPDX-License-Identifier: Apache-2.0
"""The image on the other host, and all that can be wrong with reaching it."""

import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.environments.far_example import PROVIDER, far_spec, running
from tests.environments.loopback_sshd import Sshd, make_key, running_sshd

from tare.errors import NodeError
from tare.image.store import Image
from tare.nodes.provider import NodeNetwork
from tare.records import NetworkKind, OptionValue

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="the nodes need root for mounts and cgroups"),
]


class TestImage:
    def test_it_is_carried_once_and_again_when_it_was_changed(
        self, sshd: Sshd, far: Path, image: Image
    ) -> None:
        provider = PROVIDER.configured(sshd.reach(far))
        (root,) = (far / "images").glob("carried-*/rootfs")
        first = root.stat().st_ino
        provider.prepare(image.root, image.digest)
        assert root.stat().st_ino == first
        (root / "etc" / "hostname").write_text("changed")
        provider.prepare(image.root, image.digest)
        assert root.stat().st_ino != first
        assert (root / "etc" / "hostname").read_text() == ""

    def test_what_arrives_otherwise_than_it_was_sent_is_no_image(self, sshd: Sshd, tmp_path: Path) -> None:
        (tmp_path / "root").mkdir()
        (tmp_path / "root" / "file").write_text("x")
        with pytest.raises(NodeError, match=r"what arrived has the digest sha256:.* and not sha256:0000"):
            PROVIDER.configured(sshd.reach(tmp_path / "far")).prepare(tmp_path / "root", "sha256:" + "0" * 64)
        assert [
            path.name for path in (tmp_path / "far" / "images").iterdir() if not path.name.startswith(".lock")
        ] == []

    def test_a_node_without_its_image_is_refused(
        self, sshd: Sshd, image: Image, state: Path, tmp_path: Path
    ) -> None:
        spec = far_spec(sshd.reach(tmp_path / "empty"), image, state)
        with pytest.raises(NodeError, match="is not here; it comes with the start of a run"), running(spec):
            pytest.fail("it must not run")


class TestWhatCanBeWrong:
    """Each is said in words, with what to do about it."""

    def reason(self, options: Mapping[str, OptionValue]) -> str:
        probe = PROVIDER.configured(options).probe()
        assert not probe.usable
        return probe.reason

    def test_nobody_listens(self, sshd: Sshd, tmp_path: Path) -> None:
        with socket.socket() as bound:
            bound.bind(("127.0.0.1", 0))
            words = [str(bound.getsockname()[1]) if word == str(sshd.port) else word for word in sshd.options]
            said = self.reason({**sshd.reach(tmp_path), "ssh_options": words})
        assert "Connection refused" in said
        assert "no sshd listens there" in said

    def test_the_host_has_no_such_name(self, sshd: Sshd, tmp_path: Path) -> None:
        said = self.reason({**sshd.reach(tmp_path), "host": "nowhere.invalid"})
        assert "nowhere.invalid cannot be reached by ssh" in said
        assert "correct host" in said

    @pytest.fixture
    def another_key(self, sshd: Sshd, tmp_path: Path) -> Iterator[str]:
        known = (sshd.folder / "known_hosts").read_text()
        yield make_key(tmp_path / "other_key")
        (sshd.folder / "known_hosts").write_text(known)

    def test_the_hosts_key_has_changed(self, sshd: Sshd, tmp_path: Path, another_key: str) -> None:
        sshd.know(another_key)
        assert "find out why; if that is right, forget the old one with ssh-keygen -R" in self.reason(
            sshd.reach(tmp_path / "far")
        )

    @pytest.mark.usefixtures("another_key")
    def test_the_hosts_key_is_not_known(self, sshd: Sshd, tmp_path: Path) -> None:
        (sshd.folder / "known_hosts").write_text("")
        assert "connect once by hand with ssh and compare the fingerprint" in self.reason(
            sshd.reach(tmp_path / "far")
        )

    def test_the_user_is_refused(self, sshd: Sshd, tmp_path: Path) -> None:
        make_key(tmp_path / "foreign")
        words = [str(tmp_path / "foreign") if word.endswith("user_key") else word for word in sshd.options]
        said = self.reason({**sshd.reach(tmp_path / "far"), "ssh_options": words})
        assert "Permission denied" in said
        assert "ssh-copy-id" in said

    def test_there_is_no_python(self, sshd: Sshd, tmp_path: Path) -> None:
        said = self.reason(sshd.reach(tmp_path / "far", python="no-such-python"))
        assert "Tare on 127.0.0.1 ended (127)" in said
        assert "no-such-python" in said

    def test_the_state_folder_cannot_be_made(self, sshd: Sshd, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        said = self.reason(sshd.reach(tmp_path / "file" / "state"))
        assert "cannot take Tare's own code into" in said
        assert "Not a directory" in said

    def test_the_technology_below_does_not_work_there(self, sshd: Sshd, tmp_path: Path) -> None:
        options = sshd.reach(
            tmp_path / "far", below="custom", below_options=['start=["nothing"]', 'enter=["a"]', 'stop=["b"]']
        )
        assert "custom on 127.0.0.1: there is no program 'nothing'" in self.reason(options)

    def test_the_login_shell_prints_something_by_itself(self, tmp_path: Path) -> None:
        force = 'ForceCommand echo Welcome to the cluster; sh -c "$SSH_ORIGINAL_COMMAND"'
        with running_sshd(tmp_path / "sshd", force) as noisy:
            said = self.reason(noisy.reach(tmp_path / "far"))
        assert "says 'Welcome to the cluster' before the first command" in said

    def test_a_link_to_another_host_is_refused(
        self, sshd: Sshd, far: Path, image: Image, state: Path
    ) -> None:
        linked = NodeNetwork(kind=NetworkKind.VETH, namespace=state / "n", switch=state / "s")
        spec = far_spec(sshd.reach(far), image, state, network=linked)
        with pytest.raises(NodeError, match=r"link would end on its host, .* write default, host, none"):
            PROVIDER.start(spec)

    def test_processors_that_the_host_lacks_are_named(
        self, sshd: Sshd, far: Path, image: Image, state: Path
    ) -> None:
        spec = far_spec(sshd.reach(far), image, state, processors=(4000,))
        with pytest.raises(NodeError, match="the node is to have 4000"), running(spec):
            pytest.fail("it must not run")
