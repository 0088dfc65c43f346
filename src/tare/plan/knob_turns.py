# SPDX-License-Identifier: Apache-2.0
"""How each knob is turned: an environment and its limits in, the changed ones out, or a sentence why not."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tare.nodes.provider import LINKED_NETWORKS, Provider
from tare.records import Environment, Layout, Level, Limits, NetworkKind, OptionValue, Storage
from tare.units import format_byte

_QUICK_RTO_S = 0.005
_LARGER = 8
_VARIABLES, _PRELOADS = "variables", ("LD_PRELOAD=", "LD_AUDIT=")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnobSubject:
    """The environment and limits that a knob changes."""

    environment: Environment
    limits: Limits
    layout: Layout
    provider: Provider
    levels: tuple[Level, ...] = ()
    """Of the campaign's factors, which the environment and the limits have already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    """The changes, and their description in words."""

    environment: Environment
    limits: Limits
    subject: str
    """Such as "the CPU quota"."""
    change: str
    """Such as "without it"."""
    is_cure: bool = True
    """Whether it removes what may cost time, rather than adding it."""


def _limits(subject: KnobSubject, limits: Limits, what: str, change: str) -> Turned:
    return Turned(environment=subject.environment, limits=limits, subject=what, change=change)


def with_options(
    subject: KnobSubject, options: Mapping[str, OptionValue | None], what: str, change: str
) -> Turned:
    """Change options; ``None`` removes an option."""
    merged = {**subject.environment.options, **options}
    kept = {name: value for name, value in merged.items() if value is not None}
    environment = replace(subject.environment, options=kept)
    return Turned(environment=environment, limits=subject.limits, subject=what, change=change)


def without_quota(subject: KnobSubject) -> Turned | str:
    if subject.limits.cpu_quota is None:
        return "neither the campaign nor the environment sets a CPU quota"
    return _limits(subject, replace(subject.limits, cpu_quota=None), "the CPU quota", "without it")


def twice_the_memory(subject: KnobSubject) -> Turned | str:
    doubled = replace(subject.limits, memory_byte=2 * subject.limits.memory_byte)
    return _limits(subject, doubled, "the memory limit", "with twice the memory")


def larger_shm(subject: KnobSubject) -> Turned | str:
    """Make it eight times as large, but at most half of the memory, to which its contents are charged."""
    before, limits = subject.limits.shm_byte, subject.limits
    after = min(_LARGER * before, limits.memory_byte // 2)
    if after <= before:
        return f"its /dev/shm of {format_byte(before)} may hold half of the memory already"
    what = f"its /dev/shm of {format_byte(before)}"
    return _limits(subject, replace(limits, shm_byte=after), what, f"with one of {format_byte(after)}")


def in_memory(subject: KnobSubject) -> Turned | str:
    if subject.limits.storage is Storage.TMPFS:
        return "what the nodes write lies in memory already"
    in_memory = replace(subject.limits, storage=Storage.TMPFS)
    return _limits(subject, in_memory, "the disk below its files", "with its files in memory")


def host_network(subject: KnobSubject) -> Turned | str:
    environment = subject.environment
    if NetworkKind.HOST not in subject.provider.networks:
        return f"{environment.technology} cannot share the host's network"
    if environment.network is NetworkKind.HOST:
        return "it is on the host's network already"
    return Turned(
        environment=replace(environment, network=NetworkKind.HOST, rto_min_s=None),
        limits=subject.limits,
        subject="the network of its own",
        change="on the host's network",
    )


def short_timeout(subject: KnobSubject) -> Turned | str:
    environment = subject.environment
    joined = NetworkKind.VETH if subject.layout.hosts == 1 < subject.layout.nodes else NetworkKind.NONE
    kind = environment.network or joined
    if kind not in LINKED_NETWORKS:
        return "it needs a route of the node's own: network veth, macvlan, ipvlan, vxlan or sriov"
    if environment.rto_min_s is not None and environment.rto_min_s <= _QUICK_RTO_S:
        return f"the least retransmission timeout is {1000 * environment.rto_min_s:g} ms already"
    before_ms = 200 if environment.rto_min_s is None else 1000 * environment.rto_min_s
    return Turned(
        environment=replace(environment, rto_min_s=_QUICK_RTO_S),
        limits=subject.limits,
        subject=f"TCP's least retransmission timeout of {before_ms:g} ms",
        change=f"with one of {1000 * _QUICK_RTO_S:g} ms",
    )


def _flag(
    subject: KnobSubject, option: str, default: bool, on: tuple[str, str], off: tuple[str, str]
) -> Turned | str:
    """Flip a switch of the technology; the words describe turning it off, and turning it on."""
    if option not in subject.provider.option_names:
        return f"{subject.environment.technology} has no option {option}"
    is_on = subject.environment.options.get(option, default) is True
    turned = with_options(subject, {option: not is_on}, *(off if is_on else on))
    return replace(turned, is_cure=not is_on)


def huge_pages(subject: KnobSubject) -> Turned | str:
    on = ("memory in pages of the usual size", "with huge pages")
    return _flag(subject, "huge_pages", False, on, ("the huge pages", "without them"))


def pinning(subject: KnobSubject) -> Turned | str:
    on = ("letting virtual processors move", "with each pinned to one of the host's")
    return _flag(subject, "pin", True, on, ("pinning each virtual processor", "without it"))


def vhost(subject: KnobSubject) -> Turned | str:
    if "vhost" not in subject.provider.option_names:
        return f"{subject.environment.technology} has no option vhost"
    if subject.environment.options.get("vhost", "auto") == "off":
        return with_options(subject, {"vhost": "on"}, "moving packets in the monitor", "with vhost")
    turned = with_options(subject, {"vhost": "off"}, "vhost", "without it")
    return replace(turned, is_cure=False)


def paravirtual(subject: KnobSubject) -> Turned | str:
    if (
        subject.environment.options.get("devices") != "emulated"
        or "devices" not in subject.provider.option_names
    ):
        return "it has no emulated devices"
    what = ("the emulation of devices", "with paravirtual ones")
    return with_options(subject, {"devices": "paravirtual", "machine": None}, *what)


def kvm(subject: KnobSubject) -> Turned | str:
    if subject.environment.options.get("accelerator") != "tcg":
        return 'its accelerator is not "tcg"'
    return with_options(subject, {"accelerator": "kvm"}, "software emulation", "under KVM")


def tare_storage(subject: KnobSubject) -> Turned | str:
    if subject.environment.options.get("storage") != "own":
        return "it has Tare's own layer already"
    return with_options(subject, {"storage": None}, "the technology's own storage driver", "on Tare's layer")


def sandbox(subject: KnobSubject) -> Turned | str:
    if "form" not in subject.provider.option_names:
        return f"{subject.environment.technology} does not run a SIF"
    if subject.environment.options.get("form") == "sandbox":
        return "it is run from a sandbox already"
    return with_options(subject, {"form": "sandbox"}, "the SIF", "from a sandbox")


def preload_off(subject: KnobSubject) -> Turned | str:
    """Take the variables away by which the loader adds libraries to each program (ld.so(8))."""
    own = subject.environment.technology
    if _VARIABLES not in subject.provider.option_names:
        return f"{own} has no option {_VARIABLES}"
    stated = subject.environment.options.get(_VARIABLES, [])
    kept = [entry for entry in stated if not entry.startswith(_PRELOADS)] if isinstance(stated, list) else []
    if kept == stated:
        return f"its {_VARIABLES} load no library into every program"
    what = ("a library loaded into every program", "without it")
    return with_options(subject, {_VARIABLES: kept or None}, *what)


def clock(subject: KnobSubject) -> Turned | str:
    return _processor(
        subject, "host,+invtsc", "the clock that is slow to read", "with the host's time stamp counter"
    )


def host_processor(subject: KnobSubject) -> Turned | str:
    if subject.environment.technology not in {"qemu", "libvirt"}:
        return f"{subject.environment.technology} is no machine with a processor model"
    return _processor(subject, "host", "the processor model", "with the host's own")


def _processor(subject: KnobSubject, model: str, what: str, change: str) -> Turned | str:
    """Set the processor model; ``host`` and above are the host's own model, which software emulation cannot have."""
    own, options = subject.environment.technology, subject.environment.options
    if "cpu" not in subject.provider.option_names:
        return f"{own} has no option cpu"
    if options.get("accelerator") == "tcg":
        return "software emulation cannot have the host's processor"
    if str(options.get("cpu", "")).startswith(model):
        return f"its cpu is {options['cpu']!r} already"
    return with_options(subject, {"cpu": model}, what, change)
