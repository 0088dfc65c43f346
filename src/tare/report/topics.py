# SPDX-License-Identifier: Apache-2.0
"""The topics of a result in the order of each output; nothing else decides where a topic appears."""

from collections.abc import Sequence
from typing import Protocol

from rich.console import Console

from tare.drawing.artist import Artist
from tare.records import Analysis
from tare.report import (
    activities,
    answers,
    call_sites,
    causes,
    clock_faults,
    clocks,
    comparisons,
    curves,
    equal_arms,
    factors,
    failing,
    helpers,
    host_clocks,
    host_software,
    hosts,
    losses,
    order,
    sharing,
    signals,
    stops,
    verdicts,
)
from tare.report.page import PageSection
from tare.report.shape import JsonShape


class InTables(Protocol):
    """A topic that prints tables to a terminal."""

    def table(self, analysis: Analysis, console: Console, /, *, show_all: bool) -> None: ...


class OnPage(Protocol):
    """A topic with sections on the page."""

    def html(self, analysis: Analysis, artist: Artist, /) -> Sequence[PageSection]: ...


class Topic(InTables, OnPage, Protocol):
    """A topic of every output."""


TOPICS: tuple[Topic, ...] = (host_software, hosts, failing, factors, sharing, activities, call_sites, helpers)
"""Together and in this order in every output: a new topic joins them, and ``JSON_ORDER``."""
JSON_ORDER: tuple[type[JsonShape], ...] = (
    stops.StopsJson,
    answers.AnswersJson,
    verdicts.VerdictsJson,
    curves.CurvesJson,
    host_software.HostSoftwareJson,
    hosts.HostsJson,
    host_clocks.HostClocksJson,
    failing.FailuresJson,
    factors.FactorsJson,
    sharing.SharingJson,
    activities.ActivitiesJson,
    call_sites.CallSitesJson,
    helpers.HelpersJson,
    causes.CausesJson,
    comparisons.ComparisonsJson,
    clock_faults.ClockFaultsJson,
    order.OrderJson,
    clocks.ClocksJson,
    losses.LossesJson,
    equal_arms.EqualArmsJson,
    signals.SignalsJson,
)
TABLE_ORDER: tuple[InTables, ...] = (*TOPICS, order, equal_arms, causes, comparisons)
PAGE_ORDER: tuple[OnPage, ...] = (comparisons, causes, *TOPICS, order, clocks)
HOST_ORDER: tuple[OnPage, ...] = (equal_arms, signals)
"""Below the facts about the host, on the page."""
