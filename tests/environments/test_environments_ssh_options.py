# SPDX-License-Identifier: Apache-2.0
"""What a campaign says of another host, and the words that ssh is told."""

import os
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.environments import custom_examples
from tests.environments.environment_example import described

from tare.environments import ssh
from tare.environments.ssh import shared
from tare.environments.ssh.connection import HERE, Far, complaints, unreachable
from tare.errors import NodeError
from tare.records import OptionValue

HOST: Mapping[str, OptionValue] = {"host": "user@host"}
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


class TestOptions:
    def test_a_host_is_enough(self) -> None:
        assert complaints(HOST) == {}
        far = Far.of(HOST)
        assert (far.below, far.state, far.python) == ("native", "/var/lib/tare", "python3")

    @pytest.mark.parametrize(
        ("options", "option", "said"),
        [
            ({}, "host", "is missing; write user@host"),
            ({"host": ""}, "host", "must be a text"),
            ({"host": "-oProxyCommand=x"}, "host", "is no host"),
            ({"host": "a b"}, "host", "is no host"),
            ({"host": []}, "host", "is an empty list"),
            ({"host": ["one", "-two"]}, "host", "'-two' is no host"),
            ({**HOST, "subnet": "eth0"}, "subnet", "'eth0' is no range of IPv4 addresses"),
            ({**HOST, "subnet": "fd00::/8"}, "subnet", "is no range of IPv4 addresses"),
            ({**HOST, "subnet": "10.1.0.17/16"}, "subnet", "is no whole range; write 10.1.0.0/16"),
            ({**HOST, "ssh_options": "-p 22"}, "ssh_options", "must be a list of texts"),
            ({**HOST, "state": "tare"}, "state", "must be a whole path"),
            ({**HOST, "python": 3}, "python", "must be a text"),
            ({**HOST, "below": "dokcer"}, "below", "unknown technology 'dokcer'; allowed: "),
            ({**HOST, "below": "ssh"}, "below", "unknown technology 'ssh'"),
            (
                {**HOST, "below_options": ["x=1"]},
                "below_options",
                "native has no option 'x'; write NAME=VALUE",
            ),
            ({**HOST, "below": "fake", "below_options": ["slowdown"]}, "below_options", "write NAME=VALUE"),
            ({**HOST, "below": "custom"}, "below_options", "start: is missing"),
        ],
    )
    def test_what_is_wrong_is_said(self, options: Mapping[str, OptionValue], option: str, said: str) -> None:
        assert said in complaints(options)[option]

    @given(st.lists(st.from_regex(r"[a-z]{1,9}", fullmatch=True), min_size=1), st.integers(0, 99))
    def test_nodes_take_turns_on_the_hosts_and_each_host_is_prepared_once(
        self, hosts: list[str], index: int
    ) -> None:
        options: Mapping[str, OptionValue] = {"host": hosts, "subnet": "10.1.0.0/16"}
        assert complaints(options) == {}
        assert Far.of(options, index).host == hosts[index % len(hosts)]
        prepared = [far.host for far in Far.all(options)]
        assert sorted(prepared) == sorted(set(hosts))

    def test_only_an_instance_that_spans_nodes_needs_the_subnet(self) -> None:
        provider = ssh.Ssh()
        assert provider.check_options(HOST) == {}
        assert "subnet" in provider.check_spanning(HOST)
        assert provider.check_spanning({**HOST, "subnet": "10.1.0.0/16"}) == {}

    def test_options_below_are_texts_numbers_truth_values_and_lists(self) -> None:
        given_below = ["a=b=c", "b=1", "c=true", 'd=["x y", "z"]', "e=[1]", "f={}", "g=", "h=null"]
        assert Far(host="h", below_options=tuple(given_below)).options_below == {
            "a": "b=c",
            "b": 1,
            "c": True,
            "d": ["x y", "z"],
            "e": "[1]",
            "f": "{}",
            "g": "",
            "h": "null",
        }

    def test_options_below_are_judged_by_their_technology(self) -> None:
        right = {**HOST, "below": "custom", "below_options": custom_examples.as_words(custom_examples.CHROOT)}
        assert complaints(right) == {}
        wrong = {**right, "below_options": [*right["below_options"], "system=maybe"]}  # type: ignore[misc]
        assert complaints(wrong) == {"below_options": "system: must be true or false, but is 'maybe'"}


class TestWords:
    def test_the_user_may_change_how_ssh_connects_and_not_what_it_does(self) -> None:
        argv = Far.of({**HOST, "ssh_options": ["-o", "BatchMode=no", "-o", "ConnectTimeout=99"]}).ssh()
        assert argv.index("BatchMode=yes") < argv.index("BatchMode=no")
        assert argv.index("ConnectTimeout=99") < argv.index("ConnectTimeout=10")
        assert argv[-2:] == ["--", "user@host"]

    def test_ssh_itself_takes_the_first_value(self) -> None:
        argv = Far.of(
            {**HOST, "ssh_options": ["-F", "none", "-o", "BatchMode=no", "-o", "ConnectTimeout=99"]}
        ).ssh()
        at = argv.index("--")
        done = subprocess.run([*argv[:at], "-G", *argv[at:]], capture_output=True, text=True, check=True)
        settings = done.stdout.splitlines()
        assert {"batchmode yes", "connecttimeout 99", "serveraliveinterval 15"} <= set(settings)

    def test_a_percent_sign_in_the_sockets_name_is_no_token(self) -> None:
        argv = Far.of(HOST).ssh(Path("/a%h/ssh"), master=True)
        assert argv[argv.index("-S") + 1] == "/a%%h/ssh"
        assert "ControlMaster=yes" in argv

    def test_what_becomes_root_stands_before_every_command(self) -> None:
        far = Far.of({**HOST, "become": ["sudo", "-n"]})
        assert far.command("tar", "-C", "/a b") == "sudo -n tar -C '/a b'"
        assert "sudo -n env" in far.enter(Path("/c"), ["env"])

    @settings(max_examples=30)
    @given(st.lists(TEXT))
    @example(
        ["a b", "", "'", '"', "$HOME", "`id`", "*", "line\nend\n", "-x", "~", "\\", "!", ";#&|", "'a''b'"]
    )
    def test_any_words_survive_the_far_shells_reading(self, given_words: list[str]) -> None:
        """This host stands for the far one, whose shell ssh would start in the same way."""
        argv = Far(host=HERE).enter(None, ["env", "printf", r"%s\0"])
        said = subprocess.run([*argv, "", *given_words], capture_output=True, check=True).stdout
        assert said.decode().split("\0")[:-1] == ["", *given_words]

    def test_the_way_to_the_users_keys_is_kept(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSH_AUTH_SOCK", "/agent")
        assert "SSH_AUTH_SOCK=/agent" in Far.of(HOST).enter(Path("/c"), ["env"])
        monkeypatch.delenv("SSH_AUTH_SOCK")
        assert not any("SSH_AUTH_SOCK" in word for word in Far.of(HOST).enter(Path("/c"), ["env"]))


class TestFarNode:
    def test_its_folders_are_those_of_the_other_host(self) -> None:
        far = Far.of({**HOST, "state": "/far", "below": "fake", "below_options": ["slowdown=0.5"]})
        first = described(Path("/near/nodes/tare-1"))
        second = described(Path("/near/nodes/tare-2"), name="tare-2", shared_work=first.work)
        plain = ssh._far_spec(second, far)
        assert (plain["technology"], plain["options"]) == ("fake", {"slowdown": 0.5})
        assert str(plain["directory"]) == "/far/nodes/tare-2"
        assert str(plain["shared_work"]) == "/far/nodes/tare-1/layer/work"
        assert plain["network"]["namespace"] is None

    def test_a_socket_with_a_long_name_is_elsewhere_and_always_in_the_same_place(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TARE_STATE", "/n")
        assert shared._folder() == Path("/n/ssh")
        monkeypatch.setenv("TARE_STATE", f"/n/{'m' * 99}")
        other = shared._folder()
        monkeypatch.setenv("TARE_STATE", f"/n/{'l' * 99}")
        assert shared._folder() == shared._folder() != other
        assert len(str(shared._folder())) + 13 <= 80

    def test_a_folder_of_another_user_is_not_taken_for_the_socket(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shared._make_private(tmp_path / "mine")
        assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        with pytest.raises(NodeError, match="belongs to another user"):
            shared._make_private(tmp_path / "mine")

    def test_a_socket_keeps_its_place_while_others_remove_the_empty_folder_of_all(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TARE_STATE", str(tmp_path / "s"))
        is_done = threading.Event()

        def remove() -> None:
            while not is_done.is_set():
                with suppress(OSError):
                    shared._folder().rmdir()
                time.sleep(0.0002)

        other = threading.Thread(target=remove)
        other.start()
        try:
            for _ in range(30):
                path = shared._new_socket()
                path.touch()
                path.unlink()
                path.parent.rmdir()
        finally:
            is_done.set()
            other.join(timeout=20)


class TestProbe:
    def test_without_a_campaign_there_is_no_host_to_try(self) -> None:
        probe = ssh.Ssh().probe()
        assert not probe.usable
        assert "docs/hosts.md" in probe.remedy


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        (
            "ssh: connect to host h port 22: Connection timed out\n",
            "Connection timed out; it does not answer",
        ),
        ("ssh: connect to host h port 22: No route to host\n", "no network leads there"),
        ("Received disconnect from h: Too many authentication failures\n", "name the one key"),
        ("something new\n", "something new; try it by hand with ssh"),
        ("", "it said nothing; try it by hand with ssh"),
    ],
)
def test_what_ssh_says_comes_with_advice(said: str, advice: str) -> None:
    assert advice in str(unreachable(Far(host="h"), said))
