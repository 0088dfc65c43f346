# SPDX-License-Identifier: Apache-2.0
"""Knobs change what they say and nothing else; what cannot be turned is refused in words."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tare.analyze.attribution.known import KNOWN
from tare.causes import KNOWN_CAUSES
from tare.environments import PROVIDERS
from tare.errors import InputError
from tare.plan.campaign import Campaign, load_preset
from tare.plan.interventions import Choice, Parent, Toggle, folder_name, intervention_campaign
from tare.plan.knob_turns import KnobSubject, Turned
from tare.plan.knobs import KNOBS, knob_of, turned
from tare.plan.trials import plan_trials
from tare.records import Environment, Layout, Limits, NetworkKind, OptionValue, Storage
from tare.signals import FAMILIES
from tests.conftest import REPOSITORY

LIMITS = Limits(memory_byte=1 << 30, shm_byte=1 << 20, cpu_quota=0.5, storage=Storage.DISK)
BESIDE = {
    *("voluntary_switches", "involuntary_switches", "vcpu_wait_s", "steal_s"),
    *("system_call_cost_s", "clock_read_cost_s"),
}
"""Signals that come with the trial itself."""


def subject(technology: str = "docker", options: Mapping[str, OptionValue] | None = None) -> KnobSubject:
    network = NetworkKind.VETH if technology in {"docker", "podman"} else None
    return KnobSubject(
        environment=Environment(
            name=technology, technology=technology, options=options or {}, network=network
        ),
        limits=LIMITS,
        layout=Layout.parse("1c1p1i"),
        provider=PROVIDERS[technology],
    )


def campaign() -> Campaign:
    preset = load_preset("hpcc", host_processors=4, host_memory_byte=1 << 34)
    return replace(preset, limits=replace(preset.limits, cpu_quota=0.5))


def planned(toggle: str, environment: str = "docker", blocks: int = 4) -> Campaign:
    parent = Parent(path="../..", campaign=campaign(), session="0a")
    return intervention_campaign(parent, Choice(environment=environment), [Toggle(text=toggle)], blocks)


@pytest.mark.parametrize("name", KNOBS)
def test_every_knob_can_be_turned_in_some_technology_or_says_why_not(name: str) -> None:
    options: list[dict[str, OptionValue]] = [
        {},
        {"form": "sif"},
        {"devices": "emulated"},
        {"accelerator": "tcg"},
        {"storage": "own"},
        {"arguments": "--cpu-shares 64 --cpuset-mems 1"},
        {"variables": ["LD_PRELOAD=/opt/agent.so"]},
    ]
    turneds = [
        turned(KNOBS[name], subject(technology, some))
        for technology in ("apptainer", "docker", "podman", "lxc", "qemu", "host")
        for some in options
        if set(some) <= set(PROVIDERS[technology].option_names)
    ]
    assert any(isinstance(item, Turned) for item in turneds)
    assert all(item for item in turneds)


def test_a_sif_is_turned_into_a_sandbox_and_nothing_else_is() -> None:
    result = turned(KNOBS["sandbox"], subject("apptainer", {"form": "sif"}))
    assert isinstance(result, Turned)
    assert result.environment.options == {"form": "sandbox"}
    assert (
        turned(KNOBS["sandbox"], subject("apptainer", {"form": "sandbox"}))
        == "it is run from a sandbox already"
    )
    assert turned(KNOBS["sandbox"], subject()) == "docker does not run a SIF"


def test_of_the_variables_only_those_that_load_libraries_are_taken_away() -> None:
    result = turned(
        KNOBS["preload-off"], subject("host", {"variables": ["PATH=/opt/bin", "LD_PRELOAD=/opt/agent.so"]})
    )
    assert isinstance(result, Turned)
    assert result.environment.options == {"variables": ["PATH=/opt/bin"]}
    alone = turned(KNOBS["preload-off"], subject("host", {"variables": ["LD_AUDIT=/opt/agent.so"]}))
    assert isinstance(alone, Turned)
    assert alone.environment.options == {}
    refused = turned(KNOBS["preload-off"], subject("host", {"variables": ["PATH=/opt/bin"]}))
    assert refused == "its variables load no library into every program"
    assert turned(KNOBS["preload-off"], subject()) == "docker has no option variables"


@pytest.mark.parametrize("name", KNOBS)
def test_every_knob_is_in_the_documentation(name: str) -> None:
    assert f"| `{name}` |" in (REPOSITORY / "docs" / "causes.md").read_text()


@pytest.mark.parametrize("name", KNOBS)
def test_every_knob_is_a_test_of_a_known_cause(name: str) -> None:
    assert any(name in cause.knobs for cause in KNOWN_CAUSES.values())


def test_every_recorded_signal_has_its_words() -> None:
    recorded = {
        kind.name for family in FAMILIES for kind in family.kinds if kind.unit not in {"J", "W"}
    } | BESIDE
    plain = {
        "host_psi_cpu_full_s",
        "interface_received_byte",
        "interface_sent_byte",
        "tcp_backlog_drops",
        "tcp_receive_drops",
    }
    assert recorded - set(KNOWN) <= plain


def test_what_a_signal_comes_after_is_known_and_has_no_circle() -> None:
    placed: set[str] = set()
    while ready := {
        name for name, value in KNOWN.items() if name not in placed and set(value.after) <= placed
    }:
        placed |= ready
    assert placed == set(KNOWN)


def test_a_limit_is_changed_natively_too_and_everything_else_stays() -> None:
    result = planned("quota-off")
    quotas = {trial.environment.name: trial.limits.cpu_quota for trial in plan_trials(result, 1)}
    assert quotas == {"native": 0.5, "docker": 0.5, "docker-quota-off": None, "native-quota-off": None}
    others = {replace(trial.limits, cpu_quota=None) for trial in plan_trials(result, 1)}
    assert len(others) == 1


def test_an_option_is_changed_in_one_arm_alone_and_native_runs_once_twice_a_block() -> None:
    result = planned("seccomp-off")
    arms = [trial.environment.name for trial in plan_trials(result, 1) if trial.block == 0]
    assert sorted(arms) == ["docker", "docker-seccomp-off", "native", "native"]
    changed = next(
        environment for environment in result.environments if environment.name == "docker-seccomp-off"
    )
    assert changed.options == {"seccomp": False}


def test_an_intervention_is_kept_and_read_back() -> None:
    result = planned("quota-off")
    assert Campaign.from_json(result.to_json(), "campaign.json") == result
    assert folder_name(result) == "docker-quota-off-hpcc-1c2p1i-4-blocks"


def test_any_option_of_the_technology_is_a_knob() -> None:
    result = turned(knob_of("platform=ptrace"), subject("gvisor"))
    assert isinstance(result, Turned)
    assert result.environment.options == {"platform": "ptrace"}
    fake = turned(knob_of("slowdown=0"), subject("fake", {"slowdown": 0.2}))
    assert isinstance(fake, Turned)
    assert fake.environment.options == {"slowdown": 0}
    assert "no such option" in str(turned(knob_of("speed=1"), subject("fake")))
    assert "already" in str(turned(knob_of("slowdown=0.2"), subject("fake", {"slowdown": 0.2})))
    assert "platform" in str(turned(knob_of("platform=none"), subject("gvisor")))


@pytest.mark.parametrize(
    ("toggle", "environment", "words"),
    [
        ("quota-of", "docker", "did you mean"),
        ("huge-pages", "docker", "no option huge_pages"),
        ("rto-min", "docker", "route"),
        ("quota-off", "podman", "no 'podman' to explain"),
    ],
)
def test_what_cannot_be_turned_is_refused_in_words(toggle: str, environment: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        planned(toggle, environment)


def test_several_environments_need_a_choice() -> None:
    parent = Parent(path="", campaign=campaign(), session="0a")
    with pytest.raises(InputError, match="say which by --environment"):
        intervention_campaign(parent, Choice(), [Toggle(text="quota-off")], 4)


def changed(name: str, technology: str = "docker", **options: OptionValue) -> Turned:
    result = turned(KNOBS[name], subject(technology, options))
    assert isinstance(result, Turned), result
    return result


def refused(name: str, technology: str = "docker", **options: OptionValue) -> str:
    result = turned(KNOBS[name], subject(technology, options))
    assert isinstance(result, str), result
    return result


class TestOwnFlags:
    """Knobs that edit an engine's own arguments."""

    OWN = "--cpu-shares 64 --cpus 0.5 --annotation 'a=b c' --shm-size 64k --cpuset-mems 1"

    @pytest.mark.parametrize(
        ("name", "left", "words"),
        [
            (
                "quota-off",
                "--cpu-shares 64 --annotation 'a=b c'",
                "its CPU quota of 0.5 processors, without it",
            ),
            (
                "weight-default",
                "--cpus 0.5 --annotation 'a=b c'",
                "its CPU weight of 64, with the default weight",
            ),
            (
                "shm-larger",
                "--cpu-shares 64 --cpus 0.5",
                "its /dev/shm of 64 KiB, with the campaign's of 1 MiB",
            ),
            ("local-memory", "--shm-size 64k", "memory on other NUMA nodes, with memory near its processors"),
        ],
    )
    def test_one_is_taken_away_and_all_else_stays(self, name: str, left: str, words: str) -> None:
        result = changed(name, arguments=self.OWN, storage="own")
        assert left in str(result.environment.options["arguments"])
        assert len(str(result.environment.options["arguments"])) < len(self.OWN)
        assert result.environment.options["storage"] == "own"
        assert f"{result.subject}, {result.change}" == words
        assert result.limits == LIMITS

    def test_the_option_goes_with_its_last_flag(self) -> None:
        assert changed("weight-default", arguments="-c 64").environment.options == {}

    def test_every_word_of_a_quota_goes_at_once(self) -> None:
        result = changed("quota-off", "podman", arguments="--cpu-period=50000 --cpu-quota 25000")
        assert result.environment.options == {}

    def test_without_a_quota_of_its_own_it_is_the_campaigns(self) -> None:
        result = changed("quota-off", arguments="--cpu-shares 64")
        assert result.limits.cpu_quota is None
        assert result.environment.options == {"arguments": "--cpu-shares 64"}

    def test_without_a_size_of_its_own_shm_is_larger_in_all_arms(self) -> None:
        result = changed("shm-larger", "lxc")
        assert result.limits == replace(LIMITS, shm_byte=8 << 20)
        assert (result.subject, result.change) == ("its /dev/shm of 1 MiB", "with one of 8 MiB")
        arms = {
            trial.environment.name: trial.limits.shm_byte for trial in plan_trials(planned("shm-larger"), 1)
        }
        assert arms["native"] == arms["docker"] < arms["docker-shm-larger"] == arms["native-shm-larger"]

    def test_shm_is_never_larger_than_half_of_the_memory(self) -> None:
        large = replace(subject(), limits=replace(LIMITS, shm_byte=LIMITS.memory_byte // 4))
        result = turned(KNOBS["shm-larger"], large)
        assert isinstance(result, Turned)
        assert result.limits.shm_byte == LIMITS.memory_byte // 2
        assert "half of the memory already" in str(
            turned(KNOBS["shm-larger"], replace(large, limits=result.limits))
        )

    def test_a_size_of_its_own_that_is_no_smaller_stays(self) -> None:
        assert "no smaller than the campaign's" in refused("shm-larger", arguments="--shm-size 2m")

    @pytest.mark.parametrize("name", ["weight-default", "local-memory"])
    def test_what_is_not_there_cannot_be_taken_away(self, name: str) -> None:
        assert "its arguments hold no --cpu" in refused(name)
        assert "its arguments hold no --cpu" in refused(name, "lxc")

    @pytest.mark.parametrize("technology", ["docker", "podman"])
    def test_the_capability_is_added_to_what_is_there(self, technology: str) -> None:
        result = changed("sys-ptrace", technology, arguments="-c 64")
        assert result.environment.options == {"arguments": "-c 64 --cap-add SYS_PTRACE"}
        assert result.subject == "the refusal of MPI's single copy"
        assert result.change == "with the capability SYS_PTRACE"

    @pytest.mark.parametrize("own", ["SYS_PTRACE", "CAP_SYS_PTRACE", "all", "sys_nice,sys_ptrace"])
    def test_it_is_not_added_twice(self, own: str) -> None:
        assert "already" in refused("sys-ptrace", arguments=f"--cap-add={own}")

    def test_without_a_filter_or_the_option_there_is_no_refusal_to_undo(self) -> None:
        assert "no filter" in refused("sys-ptrace", seccomp=False)
        assert "no filter" in refused("sys-ptrace", arguments="--security-opt seccomp=unconfined")
        assert "no filter" in refused("sys-ptrace", arguments="--privileged")
        assert refused("sys-ptrace", "lxc") == "lxc has no option arguments"


class TestFilter:
    @pytest.mark.parametrize("technology", ["docker", "podman", "lxc", "systemd-nspawn"])
    def test_it_is_turned_off_wherever_there_is_one(self, technology: str) -> None:
        assert changed("seccomp-off", technology).environment.options == {"seccomp": False}
        assert changed("seccomp-off", technology, seccomp=False).environment.options == {"seccomp": True}

    def test_a_profile_of_its_own_is_a_filter(self, tmp_path: Path) -> None:
        (tmp_path / "profile").touch()
        result = changed("seccomp-off", seccomp=str(tmp_path / "profile"))
        assert result.environment.options == {"seccomp": False}
        assert (result.subject, result.change) == ("the seccomp filter", "without it")

    def test_one_among_its_arguments_goes_too(self) -> None:
        result = changed("seccomp-off", arguments="--security-opt seccomp=/a/profile --cpus 1")
        assert result.environment.options == {"seccomp": False, "arguments": "--cpus 1"}
        on = changed("seccomp-off", arguments="--security-opt seccomp=unconfined")
        assert on.environment.options == {"seccomp": True}

    def test_a_privileged_container_has_none_to_turn(self) -> None:
        assert "--privileged" in refused("seccomp-off", arguments="--privileged")


class TestProcessorModel:
    @pytest.mark.parametrize(
        ("name", "model", "words"),
        [
            ("clock", "host,+invtsc", "the clock that is slow to read, with the host's time stamp counter"),
            ("cpu-host", "host", "the processor model, with the host's own"),
        ],
    )
    def test_it_becomes_the_hosts(self, name: str, model: str, words: str) -> None:
        result = changed(name, "qemu", cpu="Haswell", pin=False)
        assert result.environment.options == {"cpu": model, "pin": False}
        assert f"{result.subject}, {result.change}" == words

    def test_the_hosts_model_is_not_given_twice(self) -> None:
        assert "already" in refused("cpu-host", "qemu", cpu="host,+invtsc")
        assert "already" in refused("clock", "qemu", cpu="host,+invtsc")
        assert changed("clock", "qemu", cpu="host").environment.options == {"cpu": "host,+invtsc"}

    @pytest.mark.parametrize("name", ["clock", "cpu-host"])
    def test_where_there_is_no_such_model_it_says_so(self, name: str) -> None:
        assert "no" in refused(name, "docker")
        assert "software emulation" in refused(name, "qemu", accelerator="tcg")


def test_a_folder_of_many_long_names_is_short_and_its_own() -> None:
    parent = campaign()
    names = [f"a-workload-of-a-long-name-{number}" for number in range(20)]
    workloads = tuple(replace(parent.workloads[0], name=name) for name in names)
    long, other = (replace(parent, workloads=own, blocks=10) for own in (workloads, workloads[1:]))
    assert len(folder_name(long)) <= 120
    assert folder_name(long) != folder_name(other)


@pytest.mark.parametrize(
    ("name", "technology", "options", "is_cure"),
    [
        ("seccomp-off", "docker", {}, True),
        ("seccomp-off", "docker", {"seccomp": False}, False),
        ("pinning", "qemu", {}, False),
        ("pinning", "qemu", {"pin": False}, True),
        ("vhost", "qemu", {}, False),
        ("vhost", "qemu", {"vhost": "off"}, True),
        ("huge-pages", "qemu", {}, True),
        ("huge-pages", "qemu", {"huge_pages": True}, False),
    ],
)
def test_a_switch_that_is_a_cure_already_is_turned_the_other_way(
    name: str, technology: str, options: dict[str, OptionValue], is_cure: bool
) -> None:
    assert changed(name, technology, **options).is_cure is is_cure


def test_options_of_opposite_signs_have_names_of_their_own() -> None:
    assert knob_of("slowdown=-0.1").name == "slowdown-minus-0.1"
    assert knob_of("slowdown=0.1").name == "slowdown-0.1"
