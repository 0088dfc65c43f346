# SPDX-License-Identifier: Apache-2.0
"""Knobs change what they say and nothing else; what cannot be turned is refused in words."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tare.analyze.attribution.known import KNOWN
from tare.environments import PROVIDERS
from tare.errors import InputError
from tare.measure.signals import FAMILIES
from tare.plan.campaign import Campaign, load_preset
from tare.plan.interventions import Choice, Parent, Toggle, folder_name, intervention_campaign
from tare.plan.knob_turns import Subject, Turned
from tare.plan.knobs import KNOBS, knob_of, turned
from tare.plan.trials import plan_trials
from tare.records import Environment, Layout, Limits, NetworkKind, OptionValue, Storage
from tests.conftest import REPOSITORY

LIMITS = Limits(memory_byte=1 << 30, shm_byte=1 << 20, cpu_quota=0.5, storage=Storage.DISK)
BESIDE = {
    *("voluntary_switches", "involuntary_switches", "vcpu_wait_s", "steal_s"),
    *("system_call_cost_s", "clock_read_cost_s"),
}
"""Signals that come with the trial itself."""


def subject(technology: str = "docker", options: Mapping[str, OptionValue] | None = None) -> Subject:
    network = NetworkKind.VETH if technology in {"docker", "podman"} else None
    return Subject(
        environment=Environment(
            name=technology, technology=technology, options=options or {}, network=network
        ),
        limits=LIMITS,
        layout=Layout.parse("1c1p1i"),
        provider=PROVIDERS[technology],
    )


def campaign() -> Campaign:
    found = load_preset("hpcc", host_processors=4, host_memory_byte=1 << 34)
    return replace(found, limits=replace(found.limits, cpu_quota=0.5))


def planned(toggle: str, environment: str = "docker", blocks: int = 4) -> Campaign:
    parent = Parent(path="../..", campaign=campaign(), session="0a")
    return intervention_campaign(parent, Choice(environment=environment), [Toggle(text=toggle)], blocks)


@pytest.mark.parametrize("name", KNOBS)
def test_every_knob_can_be_turned_in_some_technology_or_says_why_not(name: str) -> None:
    options: list[dict[str, OptionValue]] = [
        {},
        {"devices": "emulated"},
        {"accelerator": "tcg"},
        {"storage": "own"},
    ]
    found = [
        turned(KNOBS[name], subject(technology, some))
        for technology in ("docker", "podman", "lxc", "qemu")
        for some in options
        if set(some) <= set(PROVIDERS[technology].option_names)
    ]
    assert any(isinstance(one, Turned) for one in found)
    assert all(one for one in found)


@pytest.mark.parametrize("name", KNOBS)
def test_every_knob_is_in_the_documentation(name: str) -> None:
    assert f"| `{name}` |" in (REPOSITORY / "docs" / "causes.md").read_text()


@pytest.mark.parametrize("name", KNOBS)
def test_every_signal_that_a_knob_tests_is_recorded(name: str) -> None:
    recorded = {kind.name for family in FAMILIES for kind in family.kinds} | BESIDE
    assert set(KNOBS[name].signals) <= recorded


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
    while ready := {name for name, one in KNOWN.items() if name not in placed and set(one.after) <= placed}:
        placed |= ready
    assert placed == set(KNOWN)


def test_a_limit_is_changed_natively_too_and_everything_else_stays() -> None:
    found = planned("quota-off")
    quotas = {trial.environment.name: trial.limits.cpu_quota for trial in plan_trials(found, 1)}
    assert quotas == {"native": 0.5, "docker": 0.5, "docker-quota-off": None, "native-quota-off": None}
    others = {replace(trial.limits, cpu_quota=None) for trial in plan_trials(found, 1)}
    assert len(others) == 1


def test_an_option_is_changed_in_one_arm_alone_and_native_runs_once_twice_a_block() -> None:
    found = planned("seccomp-off")
    arms = [trial.environment.name for trial in plan_trials(found, 1) if trial.block == 0]
    assert sorted(arms) == ["docker", "docker-seccomp-off", "native", "native"]
    changed = next(one for one in found.environments if one.name == "docker-seccomp-off")
    assert changed.options == {"seccomp": False}


def test_an_intervention_is_kept_and_read_back() -> None:
    found = planned("quota-off")
    assert Campaign.from_json(found.to_json()) == found
    assert folder_name(found) == "docker-quota-off-hpcc-1c2p1i"


def test_any_option_of_the_technology_is_a_knob() -> None:
    found = turned(knob_of("platform=ptrace"), subject("gvisor"))
    assert isinstance(found, Turned)
    assert found.environment.options == {"platform": "ptrace"}
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
