# SPDX-License-Identifier: Apache-2.0
"""Knobs that edit an engine's own ``arguments``: they remove flags that users commonly set, or add one."""

from collections.abc import Callable
from dataclasses import replace

from tare.engines import engine_arguments
from tare.engines.engine_arguments import CAPABILITY, OPTION, PRIVILEGED, SECURITY, Flag
from tare.plan.knob_turns import KnobSubject, Turned, larger_shm, with_options, without_quota
from tare.records import OptionValue
from tare.units import format_byte

_PTRACE = "SYS_PTRACE"
_ENOUGH = {_PTRACE, f"CAP_{_PTRACE}", "ALL"}
_PROFILE = "seccomp"
_UNCONFINED = "unconfined"


def quota_off(subject: KnobSubject) -> Turned | str:
    """Remove the environment's own quota, or else the campaign's."""
    own = _flags(subject, lambda flag: flag.name in engine_arguments.QUOTA)
    quota = subject.provider.chosen(subject.environment.options).cpu_quota
    if quota is None:
        return without_quota(subject)
    return _dropped(subject, own, f"its CPU quota of {quota:g} processors", "without it")


def default_weight(subject: KnobSubject) -> Turned | str:
    own = _flags(subject, lambda flag: flag.name == engine_arguments.SHARES)
    if not own:
        return f"its arguments hold no {engine_arguments.SHARES}"
    return _dropped(subject, own, f"its CPU weight of {own[-1].value}", "with the default weight")


def shm_larger(subject: KnobSubject) -> Turned | str:
    """Remove the environment's own size, or else enlarge the campaign's in all arms."""
    own_byte, stated_byte = (
        subject.provider.chosen(subject.environment.options).shm_byte,
        subject.limits.shm_byte,
    )
    if own_byte is None:
        return larger_shm(subject)
    if own_byte >= stated_byte:
        return f"its own /dev/shm of {format_byte(own_byte)} is no smaller than the campaign's"
    own = _flags(subject, lambda flag: flag.name == engine_arguments.SHM)
    what = (f"its /dev/shm of {format_byte(own_byte)}", f"with the campaign's of {format_byte(stated_byte)}")
    return _dropped(subject, own, *what)


def local_memory(subject: KnobSubject) -> Turned | str:
    own = _flags(subject, lambda flag: flag.name == engine_arguments.MEMORY_NODES)
    if not own:
        return f"its arguments hold no {engine_arguments.MEMORY_NODES}"
    return _dropped(subject, own, "memory on other NUMA nodes", "with memory near its processors")


def may_ptrace(subject: KnobSubject) -> Turned | str:
    """Add the capability without which an engine's filter refuses process_vm_readv(2) on older kernels."""
    if OPTION not in subject.provider.option_names:
        return f"{subject.environment.technology} has no option {OPTION}"
    if _is_unfiltered(subject):
        return "it has no filter of system calls that could refuse it"
    if _flags(subject, _gives_ptrace):
        return f"it has the capability {_PTRACE} already"
    text = str(subject.environment.options.get(OPTION, ""))
    added = f"{text} {CAPABILITY} {_PTRACE}".strip()
    what = ("the refusal of MPI's single copy", f"with the capability {_PTRACE}")
    return with_options(subject, {OPTION: added}, *what)


def seccomp(subject: KnobSubject) -> Turned | str:
    """Turn the filter off or on; the environment's own profile counts as the filter, wherever it is given."""
    name, options = subject.environment.technology, subject.environment.options
    if _PROFILE not in subject.provider.option_names:
        return f"{name} has no option {_PROFILE}"
    if not (own := _flags(subject, _is_profile)) and _flags(subject, _is_privileged):
        return f"its arguments hold {PRIVILEGED}, which has no filter of system calls"
    changed: dict[str, OptionValue | None] = {_PROFILE: _is_unfiltered(subject)}
    if own:
        changed[OPTION] = engine_arguments.without(options, *own)
    if changed[_PROFILE]:
        turned = with_options(subject, changed, "running without a seccomp filter", "with one")
        return replace(turned, is_cure=False)
    return with_options(subject, changed, "the seccomp filter", "without it")


def _is_unfiltered(subject: KnobSubject) -> bool:
    """Whether there is no filter: the last profile among the arguments decides, else the option."""
    profiles = _flags(subject, _is_profile)
    if profiles:
        return (profiles[-1].value or "").endswith(_UNCONFINED)
    return bool(_flags(subject, _is_privileged)) or subject.environment.options.get(_PROFILE, True) is False


def _is_privileged(flag: Flag) -> bool:
    return flag.name == PRIVILEGED and flag.value != "false"


def _is_profile(flag: Flag) -> bool:
    """Whether it is ``seccomp=PROFILE``, or the old form ``seccomp:PROFILE``."""
    return flag.name == SECURITY and (flag.value or "").startswith((f"{_PROFILE}=", f"{_PROFILE}:"))


def _gives_ptrace(flag: Flag) -> bool:
    return flag.name == CAPABILITY and not _ENOUGH.isdisjoint((flag.value or "").upper().split(","))


def _flags(subject: KnobSubject, wanted: Callable[[Flag], bool]) -> list[Flag]:
    if OPTION not in subject.provider.option_names:
        return []
    return [flag for flag in engine_arguments.flags(subject.environment.options) if wanted(flag)]


def _dropped(subject: KnobSubject, own: list[Flag], what: str, change: str) -> Turned:
    left = engine_arguments.without(subject.environment.options, *own)
    return with_options(subject, {OPTION: left}, what, change)
