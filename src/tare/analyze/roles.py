# SPDX-License-Identifier: Apache-2.0
"""Which of a result's environments stands for which environment of a paper: by technology and options, not by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tare.records import NATIVE, Environment, OptionValue, Outcome

_EMULATED = "TCG"


@dataclass(frozen=True, slots=True)
class PaperRole:
    """An environment of a paper."""

    technologies: frozenset[str]
    fits: Callable[[Environment], bool] = lambda _: True
    instead_of: str | None = None
    """What the paper had in its place; ``None``: the same."""


USUAL: Mapping[str, OptionValue] = {"devices": "paravirtual"}
"""Options that have a value where a campaign gives none."""


def _devices(word: str) -> Callable[[Environment], bool]:
    return lambda environment: environment.options.get("devices", USUAL["devices"]) == word


def _adapter(*, virtio: bool) -> Callable[[Environment], bool]:
    return lambda environment: (environment.options.get("network_adapter") == "virtio") is virtio


def _hardware(environment: Environment) -> bool:
    """By its type; a domain of the user's own has it in a file of the host's, so its name must say it."""
    kind = environment.name if "domain" in environment.options else environment.options.get("type")
    return "hvm" in str(kind).casefold()


def _short_timeout(environment: Environment) -> bool:
    return environment.rto_min_s is not None and environment.rto_min_s <= _SHORT_TIMEOUT_S


def _usual_timeout(environment: Environment) -> bool:
    return not _short_timeout(environment)


_SHORT_TIMEOUT_S = 0.01
_GUEST = frozenset({"qemu", "libvirt"})
ROLES: Mapping[str, PaperRole] = {
    NATIVE: PaperRole(frozenset({NATIVE})),
    "lxc": PaperRole(frozenset({"lxc"}), _usual_timeout),
    "lxc-2ms": PaperRole(frozenset({"lxc"}), _short_timeout),
    "docker": PaperRole(frozenset({"docker"})),
    "openvz": PaperRole(frozenset({"openvz"})),
    "vserver": PaperRole(frozenset({"vserver"})),
    "kvm": PaperRole(_GUEST),
    "kvm-pv": PaperRole(_GUEST, _devices("paravirtual")),
    "kvm-fv": PaperRole(_GUEST, _devices("emulated")),
    "virtualbox": PaperRole(frozenset({"virtualbox"})),
    "virtualbox-pv": PaperRole(frozenset({"virtualbox"}), _adapter(virtio=True)),
    "virtualbox-fv": PaperRole(frozenset({"virtualbox"}), _adapter(virtio=False)),
    "xen-pv": PaperRole(frozenset({"xen"}), lambda environment: not _hardware(environment)),
    "xen-hvm": PaperRole(frozenset({"xen"}), _hardware),
    "esxi": PaperRole(frozenset({"vmware"})),
    "vmware-player": PaperRole(frozenset({"vmware"}), instead_of="VMware Player"),
}
"""Name of an environment in ``tare.papers`` → which of ours it is."""


def emulated_environments(outcomes: tuple[Outcome, ...]) -> frozenset[str]:
    """Names of environments that a program emulated: their figures say nothing about KVM."""
    return frozenset(
        outcome.trial.environment.name
        for outcome in outcomes
        if _EMULATED in outcome.facts.get("accelerator", "")
    )


def deviations_of(role: str, environment: Environment, emulated: frozenset[str]) -> tuple[str, ...]:
    """How an environment differs from what the paper had, beyond its version."""
    said = []
    if environment.name in emulated:
        said.append("by software emulation (TCG) instead of KVM")
    if ROLES[role].instead_of:
        said.append(f"{environment.technology} instead of {ROLES[role].instead_of}")
    return tuple(said)


def in_role(role: str, environment: Environment) -> bool:
    """Whether this environment stands for the paper's."""
    known = ROLES[role]
    return environment.technology in known.technologies and known.fits(environment)
