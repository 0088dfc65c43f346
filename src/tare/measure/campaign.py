# SPDX-License-Identifier: Apache-2.0
"""Measuring or continuing a campaign: lock and clean the host, verify the image, journal each trial."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Protocol

from tare import __version__
from tare.environments import PROVIDERS
from tare.host import standing
from tare.host.cgroups import remove_parent_if_empty
from tare.host.delegation import PRIVILEGES, privileges
from tare.host.facts import host_facts, online_processors
from tare.image.store import Image, find_image, in_use, verify
from tare.journal.large import read_result
from tare.journal.reader import Journal, campaign_digest
from tare.journal.result import CAMPAIGN_FILE, ResultFolder, journal_name
from tare.journal.writer import JournalWriter
from tare.measure import devices, idle_ranks
from tare.measure.clean import clean_up
from tare.measure.context import Context
from tare.measure.continued import refuse_another, settled
from tare.measure.folder_lock import folder_lock
from tare.measure.guardian import guarded
from tare.measure.host_devices import given_on
from tare.measure.hosts import connected, reach, subnet_of
from tare.measure.image_config import as_the_image_says
from tare.measure.joining import can_be_compared, joining_said, plan_now
from tare.measure.known_results import remember
from tare.measure.launches import require_launcher, require_launches
from tare.measure.lock import host_lock, tools_lock
from tare.measure.lost_hosts import counts, require_hosts
from tare.measure.machine_lock import machine_lock
from tare.measure.more import added_blocks, check_more
from tare.measure.others import look_before_start
from tare.measure.parity import expected_parity
from tare.measure.ready import Ready, made_ready
from tare.measure.scans import with_choices
from tare.measure.session import Budget, Watcher, interruptible, remember_peak, run_pilot, run_trials
from tare.measure.shares import Share
from tare.measure.software import compared_software
from tare.measure.stopping import Stopping, Wanted, cell_of, never
from tare.measure.turns.together import WHOLE
from tare.measure.unforeseen import rescue
from tare.measure.usable import cannot_join, lacking_flags
from tare.measure.users import USER_LABEL, stranger, user_of, user_words
from tare.nodes.given import Given, given
from tare.nodes.provider import Provider
from tare.plan.budget import BudgetPlan, fits
from tare.plan.campaign import Campaign
from tare.plan.definition import extended
from tare.plan.scans import open_scans
from tare.plan.written import parse_bind
from tare.records import (
    HostLoad,
    Outcome,
    Parity,
    Session,
    Skipped,
)
from tare.records.scaled import Scaled

_ASKED_FACTS = (idle_ranks.FACT, WHOLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A campaign to run or continue, and where its result goes."""

    campaign: Campaign
    folder: ResultFolder
    image_name: str = "default"
    pilot: bool = False
    """Run the first workload once on native beforehand, and stop with its error if it fails."""
    providers: Mapping[str, Provider] = field(default_factory=lambda: PROVIDERS)
    more: int = 0
    """Number of blocks to add to a finished result."""
    stopping: Stopping = never
    """Decides at each look which arms run no further blocks."""
    share: Share | None = None
    """What a scheduler's job does of it; ``None``: everything."""


class Audience(Watcher, Protocol):
    """Receives what a run does; the command line shows it."""

    def says(self, words: str, *, detail: bool = False) -> None:
        """Take one line for the user; a ``detail`` is for one who asks for more."""
        ...

    def meets(self, load: HostLoad) -> None:
        """Take who keeps the host busy just before the first trial."""
        ...

    def plans(self, plan: BudgetPlan) -> None:
        """Take the plan of what is about to run."""
        ...

    def tick(self) -> None:
        """Called about once a second while a command runs."""
        ...

    def stops(self, words: str, spared_trials: int) -> None:
        """Take what has stopped and why, and how many planned trials are no longer needed."""
        ...


def measure_campaign(request: Request, audience: Audience) -> bool:
    """Run what the journal lacks; return whether the budget cut something off.

    Raises ``KeyboardInterrupt`` after the trial in progress has been taken down, ``InputError`` if the folder belongs
    to another campaign, ``ImageError``, ``LockedError``, ``JournalError`` or ``HostError``.
    """
    with (
        interruptible(),
        held_host(request.campaign.name, audience),
        folder_lock(request.folder) as remark,
        connected(request.campaign.hosts),
        devices.fit_limits(request.campaign.devices),
    ):
        if remark is not None:
            audience.says(remark)
        image = find_image(request.image_name)
        with in_use(image):
            wanted = devices.with_libraries(as_the_image_says(request.campaign, image))
            campaign = settled(wanted, request.folder)
            ready = _ready(request, campaign, image, audience)
            remember(request.folder, image.digest)
            begun_s = time.monotonic()
            campaign = _scanned(request, campaign, image, ready.skipped, audience)
            return _measure(request, campaign, image, ready, audience, begun_s)


@contextmanager
def held_host(purpose: str, audience: Audience) -> Iterator[None]:
    """Hold locks and a guardian, and clean up after earlier runs; raises ``LockedError`` or ``HostError``.

    Leftovers that stay are reported and do not prevent a run.
    """
    with ExitStack() as stack:
        lock = stack.enter_context(host_lock(purpose))
        stack.callback(remove_parent_if_empty)
        stack.enter_context(guarded(lock))
        cleaned = clean_up()
        for name in cleaned.removed:
            audience.says(f"removed {name}, left by a killed run")
        for kept in cleaned.kept:
            audience.says(f"warning: {kept.sentence}")
        if remark := stack.enter_context(machine_lock()):
            audience.says(remark)
        stack.enter_context(tools_lock())
        stack.enter_context(standing.plain())
        yield


def _ready(request: Request, campaign: Campaign, image: Image, audience: Audience) -> Ready:
    """Verify the image and probe all environments, including ones missing in an earlier session."""
    require_launches(campaign, image)
    require_launcher(campaign.mpi_launcher, user_of(campaign.user))
    devices.require_devices(campaign, user_of(campaign.user))
    verify(image)
    if words := stranger(user_of(campaign.user)):
        audience.says(words)
    journal = read_result(request.folder)
    refuse_another(request.folder, journal, image.digest)
    ready = made_ready(campaign, request.providers, image, audience.says)
    absent = {skip.environment for skip in ready.skipped}
    late = cannot_join(campaign.environments_at_levels, request.providers, journal, absent)
    return replace(ready, skipped=(*ready.skipped, *late))


def _scanned(
    request: Request, campaign: Campaign, image: Image, skipped: tuple[Skipped, ...], audience: Audience
) -> Campaign:
    """A new result's campaign with the choices of its scans; a begun one has its own already."""
    absent = {skip.environment for skip in skipped}
    if request.folder.exists() or not open_scans(campaign) or not can_be_compared(campaign, absent):
        return campaign
    context = replace(
        new_context(request, campaign, image, audience),
        lacking_flags=_lacking_flags(request, campaign, absent, read_result(request.folder)),
    )
    with closing(context.process_stats):
        return with_choices(context, campaign, audience.says)


def _measure(
    request: Request,
    campaign: Campaign,
    image: Image,
    ready: Ready,
    audience: Audience,
    begun_s: float,
) -> bool:
    journal, skipped = read_result(request.folder), ready.skipped
    absent, done, earlier = {skip.environment for skip in skipped}, journal.done, journal.seen
    added = _added(request, campaign, journal, absent)
    campaign = extended(campaign, added)
    now = plan_now(campaign, journal, absent)
    planned, outcomes = now.trials, list(map(without_evidence, journal.outcomes))
    budget = Budget(campaign, planned, outcomes, begun_s)
    again = f"tare run {request.folder.path / CAMPAIGN_FILE}"
    wanted = Wanted(campaign, now.usable, request.stopping, outcomes, audience.stops, now.passed_over)
    wanted.look()
    budget.is_wanted = wanted.wants
    still = [trial for trial in planned if wanted.wants(trial)]
    compares = bool(still) or not now.waiting or can_be_compared(campaign, absent)
    # Where nothing is run, whoever asked says so, and why: native alone would have nothing to compare with.
    skips = map(_skip_said, skipped) if compares else ()
    points = map(scaled_said, campaign.scaled)
    for words in (*journal.integrity.warnings, *points, *skips, *joining_said(now, journal, absent, again)):
        audience.says(words)
    load = _look_at_host(audience) if any(trial.identity not in done for trial in still) else None
    turned = {cell_of(outcome.trial) for outcome in outcomes if outcome.turns}
    context = replace(
        new_context(request, campaign, image, audience),
        lacking_flags=_lacking_flags(request, campaign, absent, journal),
        idle_ranks=idle_ranks.IdleRanks(outcomes, busy=load is not None and load.busy),
        counts={outcome.trial.program: outcome.turns.counts for outcome in outcomes if outcome.turns},
        turned=turned,
        whole={
            cell: outcome.facts[WHOLE]
            for outcome in outcomes
            if WHOLE in outcome.facts and (cell := cell_of(outcome.trial)) not in turned
        },
    )
    ours = {trial.identity: trial for trial in planned}
    # A journal may name unknown workloads; only the plan decides which slices a trial has.
    context.allotment.learn(
        [
            replace(outcome, trial=ours[outcome.trial.identity])
            for outcome in outcomes
            if outcome.trial.identity in ours
        ]
    )
    for outcome in outcomes:
        remember_peak(context, outcome)
    first_runs: list[Outcome] = []
    if request.pilot and compares and not outcomes:
        first_runs = run_pilot(context, planned, budget.allowance().remaining_s)
    if compares:
        audience.plans(fits(campaign, still, outcomes, budget.remaining(), first_runs=first_runs))
    if not request.folder.exists():
        request.folder.write_campaign(json.dumps(campaign.to_json(), indent=1))
    session = replace(
        _session(context, campaign, image, ready, len(planned)),
        load=load,
        campaign_digest=campaign_digest(request.folder.path),
        added_blocks=added,
        earlier=earlier,
    )
    left = [trial for trial in planned if trial.identity not in done]
    del journal  # with the evidence of all earlier sessions
    with closing(context.process_stats), _journal(request.folder, session) as write_line:
        write_line(session)

        def write(outcome: Outcome) -> None:
            require_hosts(outcome, context.hosts)
            write_line(outcome)
            outcomes.append(without_evidence(outcome))

        allowance = replace(
            budget.allowance(), is_wanted=wanted.may_run, counts=partial(counts, campaign.hosts)
        )
        if request.share is not None:
            allowance = request.share.of(allowance, planned, outcomes)
        return run_trials(context, left, write, allowance, audience)


def _added(
    request: Request, campaign: Campaign, journal: Journal, absent: AbstractSet[str]
) -> tuple[int, ...]:
    """The blocks added to the campaign's, with those that are added now. Raises as ``check_more``."""
    added = added_blocks(campaign, journal)
    if not request.more:
        return added
    before = extended(campaign, added)
    now = plan_now(before, journal, absent)
    wanted = Wanted(before, now.usable, request.stopping, journal.outcomes, _unsaid, now.passed_over)
    wanted.look()
    left = sum(wanted.wants(trial) and trial.identity not in journal.done for trial in now.trials)
    check_more(request.more, before, journal, left, request.folder.path)
    return (*added, request.more)


def _unsaid(words: str, spared_trials: int) -> None:
    """Say nothing: these arms stopped in an earlier session."""


def without_evidence(outcome: Outcome) -> Outcome:
    """The part of a finished trial that this session needs. The larger rest is in the journal.

    Thousands of outcomes stay in memory until the campaign ends, so that looks can judge them.
    """
    facts = {label: text for label, text in outcome.facts.items() if label in _ASKED_FACTS}
    return replace(
        outcome, facts=facts, signals=(), missing_signals={}, parity=Parity(), clock_quality=(), excerpt=None
    )


@contextmanager
def _journal(folder: ResultFolder, session: Session) -> Iterator[Callable[[Session | Outcome], None]]:
    """Append to this session's file; ``JournalError`` once the folder is gone, after rescuing the measurements."""
    campaign, name = folder.read_campaign(), journal_name(session)
    with JournalWriter(folder.journal / name) as writer:

        def write(record: Session | Outcome) -> None:
            writer.append(record)
            if not writer.is_in_place():
                raise rescue(folder, campaign, name, writer)

        yield write


def scaled_said(point: Scaled) -> str:
    """One line on what is otherwise than asked."""
    return f"not as asked: {point.sentence}"


def _skip_said(skipped: Skipped) -> str:
    return f"{skipped.environment} is skipped: {skipped.reason}; {skipped.remedy}"


def new_context(request: Request, campaign: Campaign, image: Image, audience: Audience) -> Context:
    """The data shared by all trials of this session, whatever was measured before."""
    user = user_of(campaign.user)
    hosts = reach(campaign.hosts)
    own = Given() if hosts else given(campaign.devices, user)
    context = Context(
        image_root=image.root,
        image_digest=image.digest,
        raw_directory=request.folder.raw,
        available_processors=online_processors(),
        hosts=hosts,
        subnet=subnet_of(campaign.hosts, campaign.subnet),
        mpi_launcher=campaign.mpi_launcher,
        providers=request.providers,
        binds=(*map(parse_bind, campaign.binds), *own.binds),
        devices=own.devices,
        given=given_on(campaign.hosts, campaign.devices, user),
        exclude=campaign.exclude,
        tick=audience.tick,
        say=partial(audience.says, detail=True),
        user=user,
        seed=campaign.seed or 0,
    )
    equal = {**expected_parity(context.session, campaign.limits.bounds), **devices.expected(own.devices)}
    return replace(context, expected=equal)


def _look_at_host(audience: Audience) -> HostLoad:
    """Report who keeps the host busy, without refusing the run."""
    load = look_before_start()
    if load.busy:
        audience.meets(load)
    return load


def _lacking_flags(
    request: Request, campaign: Campaign, absent: AbstractSet[str], journal: Journal
) -> Mapping[str, tuple[str, ...]]:
    """The lacking flags as of the first trial: all trials of a result take the same code paths."""
    if journal.outcomes and journal.sessions:
        return journal.sessions[-1].lacking_flags
    present = [each for each in campaign.environments_at_levels if each.name not in absent]
    return lacking_flags(present, request.providers)


def _session(context: Context, campaign: Campaign, image: Image, ready: Ready, planned: int) -> Session:
    return Session(
        identity=context.session,
        started_utc=datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ"),
        tare_version=__version__,
        seed=campaign.seed or 0,
        image_name=image.name,
        image_digest=image.digest,
        host={
            **host_facts(),
            PRIVILEGES: privileges(),
            USER_LABEL: user_words(campaign.user),
        },
        hosts=context.described_hosts,
        skipped=ready.skipped,
        planned_trials=planned,
        lacking_flags=context.lacking_flags,
        software=compared_software(campaign, image),
        choices=campaign.choices,
        carried=ready.carried,
        scaled=campaign.scaled,
    )
