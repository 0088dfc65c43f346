# SPDX-License-Identifier: Apache-2.0
"""The user's own flags for an engine, in force in nodes or refused with what to do instead; the host's variables."""

import json
import os
from pathlib import Path

import pytest
from tests.contract.contract_nodes import execute, make_spec, running
from tests.environments.environment_example import described, inspected
from tests.real_environments import ready_provider

from tare.engines import engine_arguments
from tare.engines.engine_arguments import Flag, chosen, flags, without, words
from tare.environments import PROVIDERS, docker, native, podman
from tare.host import standing
from tare.image.store import Image
from tare.nodes.provider import Chosen, Node, Provider
from tare.records import OptionValue

MEBIBYTE = 1 << 20
OWN = "--cpu-shares 64 --cpus 0.5 --shm-size 1m --cap-add SYS_PTRACE"
PTRACE = 1 << 19
"""capabilities(7), CAP_SYS_PTRACE."""
AS_ROOT = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]


def test_what_the_hosts_variables_load_into_every_program_is_a_fact_of_its_nodes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(native, "ordinary_user", lambda: False)
    monkeypatch.setattr(native.Chroot, "start", lambda _, spec: Node(spec=spec, init_pid=None))
    image = Image("default", tmp_path, "0a")
    seen = []
    for entries in (["PATH=/bin", "LD_PRELOAD=/opt/agent.so"], ["PATH=/bin"]):
        spec = make_spec(native.OnHostFiles(), image, tmp_path, options={"variables": entries})
        seen.append(native.OnHostFiles().start(spec).facts)
    assert seen == [{"preloaded libraries": "/opt/agent.so"}, {}]


def given(text: str) -> dict[str, OptionValue]:
    return {"arguments": text}


class TestReading:
    def test_values_may_follow_or_be_joined_in_every_way(self) -> None:
        text = "--cpus 0.5 --shm-size=1m -c 64 -c=65 -c66 --privileged --annotation 'a=b c'"
        assert [(flag.name, flag.value) for flag in flags(given(text))] == [
            ("--cpus", "0.5"),
            ("--shm-size", "1m"),
            *(("--cpu-shares", value) for value in ("64", "65", "66")),
            ("--privileged", None),
            ("--annotation", "a=b c"),
        ]

    def test_words_are_passed_on_as_they_were_written(self) -> None:
        assert words(given("-c=65 --annotation 'a=b c'")) == ["-c=65", "--annotation", "a=b c"]
        assert words({}) == []

    def test_what_is_dropped_leaves_the_rest_as_it_was(self) -> None:
        options = given("--cpus 0.5 --annotation 'a=b c'")
        first, second = flags(options)
        assert without(options, first) == "--annotation 'a=b c'"
        assert without(options, first, second) is None
        assert Flag("--cpus", "0.5", ("--cpus", "0.5")) == first


class TestRefusing:
    @pytest.mark.parametrize("technology", ["docker", "podman"])
    @pytest.mark.parametrize(
        ("value", "said"),
        [
            ("--annotation 'a", "cannot be split as a shell would: No closing quotation"),
            ("image --cpus 1", "holds 'image', which is no flag: image and command are Tare's"),
            ("--privileged image", "holds 'image', which is no flag"),
            ("-- image", "holds '--', which is no flag"),
            ("--cpus", "holds --cpus without a value: write --cpus=VALUE"),
            ("--cpus --privileged", "holds --cpus without a value"),
            ("--cpus half", "holds --cpus half, which is no number"),
            ("--cpu-period 50000", "holds --cpu-period without --cpu-quota"),
            ("--shm-size much", "holds --shm-size much, which is no size such as 64m"),
            ("--shm-size 0", "which is no size"),
            (7, "must be text"),
            (["--cpus", "1"], "must be text"),
        ],
    )
    def test_what_is_no_list_of_flags(self, technology: str, value: OptionValue, said: str) -> None:
        assert said in PROVIDERS[technology].check_options({"arguments": value})["arguments"]

    @pytest.mark.parametrize(
        ("text", "instead"),
        [
            ("--name mine", "Tare names, finds and ends the container by it"),
            ("-d", "Tare names, finds and ends"),
            ("-it", "Tare names, finds and ends"),
            ("--detach=false", "Tare names, finds and ends"),
            ("--rm", "Tare names, finds and ends"),
            ("--cidfile x", "Tare names, finds and ends"),
            ("-l a=b", "Tare names, finds and ends"),
            ("--cgroup-parent /x", "Tare names, finds and ends"),
            ("--entrypoint sh", "first process is Tare's"),
            ("--network host", "write network = ..."),
            ("--net=host", "write network = ..."),
            ("-p 80:80", "write network = ..."),
            ("--hostname x", "write network = ..."),
            ("--cpuset-cpus 0", "processors are given by the layout"),
            ("--memory 1g", "write memory = ... under [limits]"),
            ("-m1g", "write memory = ... under [limits]"),
            ("-v /data:/data", "write binds = [...]"),
            ("--runtime runsc", "write runtime = ..."),
            ("-e A=b", "let the command set its variables"),
            ("--ipc host", "write --shm-size"),
            ("--user 1000", "begins as root"),
        ],
    )
    def test_what_would_break_tares_hold_is_refused_with_what_to_do(self, text: str, instead: str) -> None:
        (said,) = engine_arguments.check(given(f"--cpus 1 {text}")).values()
        assert said.startswith(f"cannot hold {text.partition(' ')[0]}: ")
        assert instead in said

    @pytest.mark.parametrize(
        "text", ["", OWN, "--security-opt seccomp=/a/b.json", "--cpuset-mems 1 --privileged"]
    )
    def test_what_people_run_with_is_taken(self, text: str) -> None:
        assert engine_arguments.check(given(text)) == {}


class TestChosen:
    def test_nothing_is_by_default(self) -> None:
        assert chosen({}) == Chosen() == PROVIDERS["lxc"].chosen({})
        assert chosen(given("--cpus wrong --cpu-shares 3")) == Chosen()

    def test_labels_limits_quota_and_size_are_read(self) -> None:
        text = "-c 64 --pids-limit 9 --ulimit nofile=1:2 --oom-score-adj 5 --blkio-weight 20 --cpus 0.5 --shm-size 1m"
        assert chosen(given(text)) == Chosen(
            labels=frozenset({"CPU weight", "limit of nofile", "OOM score adjustment", "I/O weight"}),
            shm_byte=MEBIBYTE,
            sets_quota=True,
            cpu_quota=0.5,
            sets_processes=True,
            processes=9,
        )

    @pytest.mark.parametrize(
        ("text", "quota"),
        [
            ("--cpu-quota 50000", 0.5),
            ("--cpu-quota 25000 --cpu-period=50000", 0.5),
            ("--cpus 1 --cpus 2", 2.0),
            ("--cpu-quota -1", None),
            ("--cpus 0", None),
        ],
    )
    def test_a_quota_is_in_processors_and_the_last_counts(self, text: str, quota: float | None) -> None:
        assert (chosen(given(text)).sets_quota, chosen(given(text)).cpu_quota) == (True, quota)

    @pytest.mark.parametrize(
        ("text", "size_byte"),
        [
            ("1m", MEBIBYTE),
            ("1MB", MEBIBYTE),
            ("1.5MiB", 3 * MEBIBYTE // 2),
            ("64k", 65536),
            ("4096", 4096),
            ("1 g", 1 << 30),
        ],
    )
    def test_sizes_are_read_as_the_engines_read_them(self, text: str, size_byte: int) -> None:
        assert chosen(given(f"--shm-size '{text}'")).shm_byte == size_byte

    def test_another_hosts_node_has_what_the_technology_below_says(self) -> None:
        below: dict[str, OptionValue] = {"host": "there", "below": "docker"}
        own = PROVIDERS["ssh"].chosen({**below, "below_options": ["arguments=--cpus 2"]})
        assert own == Chosen(sets_quota=True, cpu_quota=2.0)


class TestWords:
    @pytest.mark.parametrize("name", ["docker", "podman"])
    def test_they_come_last_and_tares_own_of_the_same_are_left_out(self, name: str, tmp_path: Path) -> None:
        options = given("--cpus 2 --ulimit nofile=1:2")
        spec = described(tmp_path, options={**options, "storage": "own"}, cpu_quota=0.5)
        argv = docker._words(spec) if name == "docker" else podman._words(spec, [])
        assert " --cpus 2 --ulimit nofile=1:2 " in " ".join(argv)
        assert argv.index("--cpus") > argv.index("--shm-size")
        assert argv.index("--cpus") < argv.index("tare:" + "ab" * 12)
        assert "--cpu-quota" not in argv
        assert [word for word in argv if word.startswith("--ulimit=nofile")] == []

    def test_an_ordinary_users_podman_has_them_too(self, tmp_path: Path) -> None:
        argv = podman._user_words(described(tmp_path, options=given("--shm-size 1m")))
        assert argv[-4:-1] == ["--shm-size", "1m", "--rootfs"]

    def test_an_ordinary_user_is_told_what_only_a_control_group_could_keep(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
        own = PROVIDERS["podman"].configured(given(f"{OWN} --oom-score-adj 5")).probe()
        assert own.reason == "without root its nodes have no control group to keep --cpu-shares, --cpus"


class TestProfile:
    @pytest.mark.parametrize("technology", ["docker", "podman"])
    def test_a_path_of_a_file_is_taken_and_any_other_refused(self, technology: str, tmp_path: Path) -> None:
        profile, check = tmp_path / "profile.json", PROVIDERS[technology].check_options
        assert "there is no file" in check({"seccomp": str(profile)})["seccomp"]
        profile.write_text("{}")
        assert check({"seccomp": str(profile)}) == {}
        assert "the whole path of a profile" in check({"seccomp": "profile.json"})["seccomp"]
        argv = docker._words(described(tmp_path, options={"seccomp": str(profile), "storage": "own"}))
        assert f"--security-opt seccomp={profile}" in " ".join(argv)

    @pytest.mark.parametrize("technology", ["lxc", "systemd-nspawn"])
    def test_others_take_true_and_false_only(self, technology: str) -> None:
        check = PROVIDERS[technology].check_options
        assert check({"seccomp": False}) == check({}) == {}
        assert "must be true or false" in check({"seccomp": "/etc/passwd"})["seccomp"]


@pytest.fixture
def provider(request: pytest.FixtureRequest, image: Image) -> Provider:
    return ready_provider(request, image)


def rules(folder: Path, number: int) -> Path:
    """A profile that allows all but some persona (personality(2)), ADDR_COMPAT_LAYOUT the last of them."""
    personae = [*range(0x1000, 0x1000 + number - 1), 0x0200000]
    calls = [
        {
            "names": ["personality"],
            "action": "SCMP_ACT_ERRNO",
            "args": [{"index": 0, "value": persona, "op": "SCMP_CMP_EQ"}],
        }
        for persona in personae
    ]
    profile = folder / "profile.json"
    profile.write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": calls}))
    return profile


class TestReal:
    pytestmark = AS_ROOT

    @pytest.mark.parametrize("provider", ["docker", "podman"], indirect=True)
    def test_own_flags_hold_are_shown_and_verified(
        self, provider: Provider, image: Image, state: Path
    ) -> None:
        spec = make_spec(provider, image, state, options=given(f"{OWN} --ulimit nofile=1000:2000"))
        with standing.plain(), running(provider, spec) as (node,):
            seen = inspected(provider, node)
        assert seen.facts["CPU quota"] == "0.5 processors"
        assert seen.facts["size of shm"] == f"{MEBIBYTE} byte"
        assert seen.parity.own["CPU weight"].endswith(" > 64")
        assert "limit of nofile" in seen.parity.own
        assert not {"CPU weight", "limit of nofile"} & set(seen.parity.host)
        assert int(seen.parity.own["capabilities"], 16) & PTRACE

    @pytest.mark.parametrize("provider", ["docker", "podman"], indirect=True)
    @pytest.mark.parametrize("way", ["seccomp", "arguments"])
    def test_a_profile_with_500_rules_is_applied(
        self, provider: Provider, image: Image, state: Path, tmp_path: Path, way: str
    ) -> None:
        path = str(rules(tmp_path, 500))
        options = {"seccomp": path} if way == "seccomp" else given(f"--security-opt seccomp={path}")
        with running(provider, make_spec(provider, image, state, options=options)) as (node,):
            status = execute(provider, node, "grep", "Seccomp:", "/proc/self/status").stdout.split()
            refused, allowed = (
                execute(provider, node, "setarch", flag, "true").returncode for flag in ("-L", "-R")
            )
        assert status[-1] == b"2"
        assert refused != 0
        assert allowed == 0

    @pytest.mark.parametrize("provider", ["docker", "podman", "lxc", "systemd-nspawn"], indirect=True)
    @pytest.mark.parametrize(("option", "mode"), [(True, b"2"), (False, b"0")])
    def test_only_without_the_filter_there_is_none_inside(
        self, provider: Provider, image: Image, state: Path, option: bool, mode: bytes
    ) -> None:
        spec = make_spec(provider, image, state, options={"seccomp": option})
        with running(provider, spec) as (node,):
            status = execute(provider, node, "grep", "Seccomp:", "/proc/self/status").stdout.split()
        assert status[-1] == mode
