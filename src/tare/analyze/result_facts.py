# SPDX-License-Identifier: Apache-2.0
"""What is not the same about the hosts, images, versions and campaigns of several results."""

from collections.abc import Mapping, Sequence

from tare.records import Analysis, FactDifference, Limits, levels_text
from tare.units import format_byte

_PASSING = ("load average", "uptime", "memory", "swap")
"""Facts about a host's moment. Its size of memory is in the first words of ``memory``."""


def fact_differences(results: Sequence[Analysis]) -> tuple[FactDifference, ...]:
    """Every recorded fact with more than one value; only facts of each result's first session."""
    facts = [_facts(result) for result in results]
    labels = dict.fromkeys(label for own in facts for label in own)
    rows = ((label, tuple(own.get(label) for own in facts)) for label in labels)
    return tuple(FactDifference(label=label, values=values) for label, values in rows if len(set(values)) > 1)


def _facts(result: Analysis) -> Mapping[str, str]:
    facts: dict[str, str] = {"campaign": result.campaign}
    if result.sessions:
        begun = result.sessions[0]
        versions = dict.fromkeys(session.tare_version for session in result.sessions)
        facts |= {"version of Tare": ", ".join(versions), "image": begun.image_digest[:19]}
        facts |= {label: text for label, text in begun.host.items() if label not in _PASSING}
        if "memory" in begun.host:
            facts["memory"] = begun.host["memory"].split(",")[0]
    for outcome in result.outcomes:
        trial = outcome.trial
        facts[f"limits of {trial.workload.name} on {trial.setting}"] = _limits(trial.limits)
        options = ", ".join(f"{name} = {value}" for name, value in sorted(trial.environment.options.items()))
        facts[f"options of {trial.environment.name}{levels_text(trial.levels)}"] = options or "none"
    return facts


def _limits(limits: Limits) -> str:
    quota = "no CPU quota" if limits.cpu_quota is None else f"a CPU quota of {limits.cpu_quota:g}"
    return f"{format_byte(limits.memory_byte)} of memory, {quota}"
