# SPDX-License-Identifier: Apache-2.0
"""The hosts of a campaign's list beside each other: a slow one is named."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from tare.analyze.attribution.known import known
from tare.drawing.artist import Artist
from tare.drawing.words import interval_percent, point_percent, share_percent
from tare.foreign import one_line
from tare.records import DIFFERENT_PATHS, Analysis, HostSpeed, Outcome
from tare.records.diagnostics import HostEffect, HostExcess
from tare.report.host_clocks import CLOCKS_EXPLANATION, clock_said, skew_said
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import EstimateShape, JsonShape, Number, key

TITLE = "The hosts beside each other"
CLOCKS_TITLE = "The clocks of the hosts"
EXPLANATION = (
    "Before each native trial all its hosts do the same work on all their processors at once: 320 MiB hashed by each. "
    "A slow host slows native and every environment alike, as all arms of a block are on the same hosts; the intervals "
    "hold for all hosts together."
)

_MOST_SAID = 3
EFFECTS_TITLE = "What each host costs a workload"
EFFECTS_EXPLANATION = (
    "How much more time a native run takes with this host in place of one of the others, by the workload's own metric; "
    "the intervals hold for all hosts of a metric together. Hosts that had every run together cannot be told apart"
)
_FACTS = ("usable processors", "memory", "processor", "kernel", "distribution", "addresses")
"""What the page shows of every host; more only where the hosts differ in it."""
_OF_THE_MOMENT = frozenset({"load average", "uptime", "swap"})


class HostSpeedShape(JsonShape):
    """One object per host of the campaign's list that had native trials, the slowest first."""

    host: str = key("the host's name in the campaign")
    slower: EstimateShape = key(
        "how much more time it takes for the same work than the median of the other hosts, as a fraction"
    )
    is_slow: bool = key("whether it is certainly slower by more than 5 %")


class HostExcessShape(JsonShape):
    """One object per host and signal of which it certainly has more than the other hosts."""

    host: str = key("the host's name in the campaign")
    signal: str = key("a name from the list of signals")
    unit: str = key("`1`: of the time of its processors; `1/s`: events per second")
    own: Number = key("what it has, the mean over the blocks")
    excess: EstimateShape = key("beyond the median of the other hosts, for all hosts and signals together")


class HostEffectShape(JsonShape):
    """One object per host, workload and primary metric that tell this host from others."""

    workload: str = key("the workload's name")
    metric: str = key("as in a verdict")
    host: str = key("the host's name in the campaign")
    slower: EstimateShape = key(
        "how much more time a native run takes with it in place of one of the others, as a fraction"
    )
    is_slow: bool = key("whether that is certainly more than 5 %")


class HostsJson(JsonShape):
    host_effects: list[HostEffectShape] = key(
        "how the campaign's hosts differ by the workloads' own metrics; empty where the runs do not tell"
    )
    host_speeds: list[HostSpeedShape] = key(
        "how fast the campaign's hosts are; empty where it lists fewer than two", "host_speeds"
    )
    host_excesses: list[HostExcessShape] = key(
        "what one of these hosts has more of than the others, over all trials", "host_excesses"
    )


def uneven_paths_said(outcomes: Iterable[Outcome]) -> str:
    """Such as "MPI's messages took another way between n2-n3: TCP over ..."; empty if all pairs of hosts are alike."""
    seen = dict.fromkeys(
        outcome.facts[DIFFERENT_PATHS] for outcome in outcomes if DIFFERENT_PATHS in outcome.facts
    )
    if not seen:
        return ""
    return (
        f"MPI's messages between some hosts went another way than between most: {one_line(' | '.join(seen))}"
    )


def hosts_said(analysis: Analysis) -> Sequence[str]:
    """What is odd about hosts, in a sentence each: one is slow, has more of something, or gets messages another way."""
    said = (
        slow_hosts_said(analysis.host_speeds),
        excesses_said(analysis.host_excesses),
        uneven_paths_said(analysis.outcomes),
    )
    return tuple(filter(None, said))


def slow_hosts_said(speeds: Sequence[HostSpeed]) -> str:
    """Such as "slow host: node3 takes 48-52 % longer for the work that every host does"; empty if none is slow."""
    slow = [
        f"{one_line(each.host)} takes {interval_percent(each.slower)} longer"
        for each in speeds
        if each.is_slow
    ]
    many = "s" if len(slow) > 1 else ""
    return f"slow host{many}: {', '.join(slow)} for the work that every host does" if slow else ""


def excesses_said(excesses: Sequence[HostExcess]) -> str:
    """Such as "h2 has more than the other hosts of: held back by a CPU quota, 62 % of the time, others 0 %"."""
    by_host: dict[str, list[str]] = {}
    for each in excesses:
        by_host.setdefault(each.host, []).append(_excess_said(each))
    return "; ".join(
        f"host {one_line(host)} stands out: {', '.join(words[:_MOST_SAID])}"
        for host, words in by_host.items()
    )


def _excess_said(each: HostExcess) -> str:
    title, others = known(each.signal).title, max(0.0, each.own - each.excess.point)
    if each.unit == "1":
        return f"{title} ({share_percent(each.own)} of its processors' time, others {share_percent(others)})"
    return f"{title} ({each.own:.3g} a second, others {others:.3g})"


def effects_said(effects: Sequence[HostEffect]) -> str:
    """Such as "cg, time_s: with node3 48-52 % longer"; empty if no host is slow."""
    slow = [
        f"{one_line(each.workload)}, {one_line(each.metric)}: with {one_line(each.host)} "
        f"{interval_percent(each.slower)} longer"
        for each in effects
        if each.is_slow
    ]
    return "; ".join(slow)


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:  # noqa: ARG001 - as every topic's
    """Print a line for each host, and for each in each metric; nothing without a list of hosts."""
    if analysis.host_speeds:
        console.print(Text(TITLE, style="bold"))
        console.print(Text(EXPLANATION))
        for speed in analysis.host_speeds:
            console.print(Text(f"{one_line(speed.host)}: {_figures(speed)}"), soft_wrap=True)
    if said := excesses_said(analysis.host_excesses):
        console.print(Text(said), soft_wrap=True)
    if analysis.host_effects:
        console.print(Text(EFFECTS_TITLE, style="bold"))
        console.print(Text(f"{EFFECTS_EXPLANATION}."))
        for effect in analysis.host_effects:
            where = ", ".join(map(one_line, (effect.workload, effect.metric, effect.host)))
            console.print(Text(f"{where}: {_figures(effect)}"), soft_wrap=True)
    if analysis.host_clocks:
        console.print(Text(CLOCKS_TITLE, style="bold"))
        console.print(Text(CLOCKS_EXPLANATION))
        for words in _clocks_said(analysis):
            console.print(Text(words), soft_wrap=True)


def _clocks_said(analysis: Analysis) -> Sequence[str]:
    skew = analysis.start_skew
    return (*map(clock_said, analysis.host_clocks), *([skew_said(skew)] if skew else []))


def _figures(host: HostSpeed | HostEffect) -> str:
    mark = ", slow" if host.is_slow else ""
    return f"{point_percent(host.slower)} {interval_percent(host.slower)} (n = {host.slower.n}{mark})"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """The facts of all hosts of the list in a table: a row for each host."""

    labels: tuple[str, ...]
    rows: Mapping[str, tuple[str | None, ...]]


def host_facts(analysis: Analysis) -> HostFacts:
    """As the last session found them: the usual facts, and those in which the hosts differ."""
    hosts = analysis.sessions[-1].hosts if analysis.sessions else {}
    labels = tuple(_told_labels(hosts))
    return HostFacts(
        labels=labels,
        rows={
            host: tuple(_told(label, facts.get(label)) for label in labels) for host, facts in hosts.items()
        },
    )


def _told(label: str, value: str | None) -> str | None:
    """The fact, without the memory that was available at the moment."""
    return value.partition(",")[0] if value and label == "memory" else value


def _told_labels(hosts: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    known = dict.fromkeys(label for facts in hosts.values() for label in facts)
    yield from (label for label in _FACTS if label in known)
    for label in known:
        differ = len({facts.get(label) for facts in hosts.values()}) > 1
        if differ and label not in {*_FACTS, *_OF_THE_MOMENT}:
            yield label


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    """Tables of the hosts: what they have, how fast they are, and their clocks."""
    facts = host_facts(analysis)
    if not facts.rows and not analysis.host_speeds and not analysis.host_clocks:
        return [MISSING]
    return [
        section(
            "hosts",
            "Hosts",
            title=TITLE,
            explanation=EXPLANATION,
            speeds=analysis.host_speeds,
            said=slow_hosts_said(analysis.host_speeds),
            excesses=excesses_said(analysis.host_excesses),
            clocks_title=CLOCKS_TITLE,
            clocks_explanation=CLOCKS_EXPLANATION,
            clocks=_clocks_said(analysis),
            effects=analysis.host_effects,
            effects_title=EFFECTS_TITLE,
            effects_explanation=EFFECTS_EXPLANATION,
            effects_said=effects_said(analysis.host_effects),
            facts=facts,
        )
    ]
