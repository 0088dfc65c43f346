# SPDX-License-Identifier: Apache-2.0
"""Apptainer's command line and its probe; the contract's tests run the tool itself."""

import csv
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.environments.environment_example import described
from tests.environments.transcripts import only_tools, parse

from tare.environments import PROVIDERS, apptainer
from tare.nodes.provider import Bind

PROVIDER = PROVIDERS["apptainer"]


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("tare.host.cgroups.find_hierarchies", lambda: None)


class TestArgv:
    def test_a_node_takes_nothing_of_the_host_but_what_is_bound(self) -> None:
        words = apptainer._run(described(binds=(Bind(path=Path("/data")),)))
        assert {"--contain", "--cleanenv", "--no-home", "--pid", "--no-init"} < set(words)
        assert words[words.index("--no-mount") + 1] == "tmp,hostfs,cwd,bind-paths"
        assert any(word.endswith("destination=/data,ro") for word in words)
        assert words[-1].endswith("/root")

    def test_shm_has_the_stated_size(self) -> None:
        spec = described()
        words = apptainer._run(spec)
        assert f"size={spec.shm_byte},mode=1777,nosuid,nodev" in words
        assert f"type=bind,source={spec.directory}/layer/shm,destination=/dev/shm" in words

    def test_a_node_whose_user_may_not_read_the_images_home_has_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        spec = described(tmp_path, image_root=tmp_path)
        monkeypatch.setattr(os, "access", lambda *_: False)
        assert f"type=bind,source={tmp_path}/layer/home,destination=/root" in apptainer._run(spec)
        monkeypatch.setattr(os, "access", lambda *_: True)
        assert not any("destination=/root" in word for word in apptainer._run(spec))

    @given(name=st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1))
    def test_a_name_cannot_become_an_option(self, name: str) -> None:
        option, line = apptainer._mount(Path("/data") / name, f"/data/{name}", writable=False)
        assert option == "--mount"
        assert list(csv.reader([line], strict=True)) == [
            ["type=bind", f"source={Path('/data') / name}", f"destination=/data/{name}", "ro"]
        ]


@pytest.mark.usefixtures("root")
class TestProbe:
    def test_a_host_without_it_is_told_where_it_comes_from(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with only_tools(monkeypatch, tmp_path / "bin", [], set()):
            probe = PROVIDER.probe()
        assert (probe.usable, probe.reason) == (False, "apptainer is not on this host")
        assert "apptainer.org" in probe.remedy

    @pytest.mark.parametrize(
        ("said", "usable"),
        [
            ("apptainer version 1.4.3", True),
            ("apptainer version 1.2.0-1.el9", True),
            ("apptainer version 1.1.9", False),
            ("singularity-ce version 4.1.5", False),
            ("", False),
        ],
    )
    def test_a_version_that_is_too_old_or_unknown_is_not_used(
        self, said: str, usable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = parse(f"$ apptainer --nocolor --version\n> {said}")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"apptainer"}):
            probe = PROVIDER.probe()
        assert probe.usable is usable
        assert usable or "install Apptainer 1.2 or later" in probe.remedy

    def test_a_tool_that_fails_is_not_used(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = parse("$ apptainer --nocolor --version\n! no such library\n= 127")
        with only_tools(monkeypatch, tmp_path / "bin", calls, {"apptainer"}):
            probe = PROVIDER.probe()
        assert not probe.usable
        assert "no such library" in probe.reason
