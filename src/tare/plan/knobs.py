# SPDX-License-Identifier: Apache-2.0
"""Knobs: what can be changed in one environment to see whether it is a cause (docs/causes.md).

Each knob has a function: an environment and its limits in, the changed ones out, or a sentence why that is not
possible. The causes name the knobs that test them (``tare.causes``). To add one: a function in ``knob_turns`` or
``argument_turns`` and an entry in the list below.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tare.errors import InputError
from tare.plan import argument_turns, knob_turns
from tare.plan.knob_turns import KnobSubject, Turned, with_options
from tare.plan.problems import nearest, printable
from tare.records import OptionValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """A knob; ``turn`` returns the changes, or why they are not possible."""

    name: str
    about: str
    turn: Callable[[KnobSubject], Turned | str]


KNOBS: Mapping[str, Knob] = {
    knob.name: knob
    for knob in (
        Knob(
            name="quota-off",
            about="no CPU quota",
            turn=argument_turns.quota_off,
        ),
        Knob(name="memory-double", about="twice the memory", turn=knob_turns.twice_the_memory),
        Knob(
            name="storage-memory",
            about="what nodes write in memory, not on a disk",
            turn=knob_turns.in_memory,
        ),
        Knob(
            name="host-network",
            about="the host's own network",
            turn=knob_turns.host_network,
        ),
        Knob(name="rto-min", about="TCP's least timeout at 5 ms", turn=knob_turns.short_timeout),
        Knob(
            name="huge-pages",
            about="a guest's memory in huge pages, or not",
            turn=knob_turns.huge_pages,
        ),
        Knob(
            name="pinning",
            about="virtual processors pinned, or not",
            turn=knob_turns.pinning,
        ),
        Knob(
            name="vhost",
            about="packets moved by the host's kernel, or not",
            turn=knob_turns.vhost,
        ),
        Knob(
            name="paravirtual",
            about="paravirtual devices for emulated ones",
            turn=knob_turns.paravirtual,
        ),
        Knob(
            name="clock",
            about="the host's time stamp counter in a guest",
            turn=knob_turns.clock,
        ),
        Knob(
            name="cpu-host",
            about="the host's own processor model in a guest",
            turn=knob_turns.host_processor,
        ),
        Knob(name="kvm", about="KVM for software emulation", turn=knob_turns.kvm),
        Knob(
            name="seccomp-off",
            about="no filter of system calls",
            turn=argument_turns.seccomp,
        ),
        Knob(
            name="sys-ptrace",
            about="the capability SYS_PTRACE, which MPI's single copy may need",
            turn=argument_turns.may_ptrace,
        ),
        Knob(
            name="weight-default",
            about="no CPU weight of the environment's own",
            turn=argument_turns.default_weight,
        ),
        Knob(name="shm-larger", about="a larger /dev/shm", turn=argument_turns.shm_larger),
        Knob(
            name="local-memory",
            about="memory near its processors",
            turn=argument_turns.local_memory,
        ),
        Knob(
            name="tare-storage",
            about="Tare's layer for an engine's storage",
            turn=knob_turns.tare_storage,
        ),
        Knob(
            name="preload-off",
            about="no library that is loaded into every program",
            turn=knob_turns.preload_off,
        ),
        Knob(name="sandbox", about="Apptainer from a sandbox instead of a SIF", turn=knob_turns.sandbox),
    )
}


def knob_of(text: str) -> Knob:
    """A knob by its name, or an option of the technology as ``OPTION=VALUE``; ``InputError`` if it is neither."""
    if text in KNOBS:
        return KNOBS[text]
    option, separator, value = text.partition("=")
    if separator and option:
        return _of_option(option, _value(value))
    raise InputError(
        f"--toggle: there is no knob {printable(text)!r}{nearest(text, KNOBS)}; they are {', '.join(KNOBS)}, "
        "and any option of the technology as OPTION=VALUE"
    )


def _value(text: str) -> OptionValue:
    """Parse a value as in a campaign file; bare words are text."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text
    return value if isinstance(value, str | int | float | bool) else text


def _of_option(option: str, value: OptionValue) -> Knob:
    def turn(subject: KnobSubject) -> Turned | str:
        before = subject.environment.options.get(option)
        if option not in subject.provider.option_names:
            names = subject.provider.option_names
            return f"{subject.environment.technology} has no such option{nearest(option, names)}"
        if before == value:
            return f"{option} is {value!r} already"
        was = "its default" if before is None else f"{before!r}"
        return with_options(subject, {option: value}, f"{option} at {was}", f"with {value!r}")

    written = f"{option}-{value}".replace("--", "-minus-")
    name = re.sub(r"[^A-Za-z0-9._]+", "-", written).strip("-")
    return Knob(name=name, about=f"{option} = {value!r}", turn=turn)


def turned(knob: Knob, subject: KnobSubject) -> Turned | str:
    """Turn it, and have the technology check the options; a sentence if either fails."""
    change = knob.turn(subject)
    if isinstance(change, str):
        return change
    complaints = subject.provider.check_options(change.environment.options)
    for option, words in complaints.items():
        return f"the option {option} {words}"
    return change
