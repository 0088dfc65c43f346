# SPDX-License-Identifier: Apache-2.0
"""A campaign and a seed to trials in randomized blocks."""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, groupby, islice

from tare.errors import JournalError
from tare.foreign import shortened
from tare.plan.definition import Campaign
from tare.plan.order import starts
from tare.plan.sharing import NATIVE_ENVIRONMENT, Setting
from tare.plan.succession import Succession
from tare.records import NATIVE, Environment, Layout, Series, Trial, Turns, Way, Workload

_Arm = tuple[Environment, int]
_Cell = tuple[Workload, Setting]


def plan_trials(campaign: Campaign, seed: int) -> tuple[Trial, ...]:
    """List every trial of the campaign in running order.

    Each block runs every cell (a workload in a setting) once: native twice and each environment once. A cell's
    trials stay together, and so do the cells of a sharing experiment, so that compared trials are close in time;
    the cells, and the arms in each, are in random order. A cell of whole runs begins with the arm that ended the last
    one, so that every arm follows every arm, itself included (``tare.plan.succession``); so these cells stay together
    too, before what takes turns in one block and after it in the next. A block's order depends only on the seed and
    the block's number: a longer campaign begins like a shorter one, and the order of tables in the file does not
    matter.
    """
    return tuple(chain.from_iterable(islice(_blocks(campaign, seed), campaign.blocks)))


def plan_block(campaign: Campaign, seed: int, block: int) -> tuple[Trial, ...]:
    """List one block's trials in running order; blocks count from 0."""
    return next(islice(_blocks(campaign, seed), block, None))


def cells_of(trials: Iterable[Trial]) -> Iterator[list[Trial]]:
    """Trials of one cell and block that stand together."""
    for _, cell in groupby(trials, key=lambda trial: (trial.block, trial.workload.name, trial.setting)):
        yield list(cell)


def _blocks(campaign: Campaign, seed: int) -> Iterator[tuple[Trial, ...]]:
    """Block after block, without an end; each goes on where the last one ended."""
    succession, series = Succession(), None
    for block in count():
        trials = [
            trial
            for cell in cells_of(_shuffled(campaign, seed, block))
            for trial in (cell if cell[0].turns is not None else succession.of(cell))
        ]
        ordered = list(_ordered(campaign, seed, block, len(trials), series))
        series = ordered[-1].series if ordered else None
        yield (*trials, *ordered)


def _shuffled(campaign: Campaign, seed: int, block: int) -> Iterator[Trial]:
    """All cells in random order, and the arms of each."""
    source = random.Random(f"{seed}-{block}")  # noqa: S311 - an order that can be repeated, not a secret
    cells = sorted(campaign.cells, key=lambda cell: (cell[0].name, str(cell[1])))
    source.shuffle(cells)
    cells.sort(key=lambda cell: turns_of(campaign, *cell) is not None, reverse=block % 2 == 0)
    placed = [(cell, arm) for cell in _joined(cells) for arm in _shuffled_arms(campaign.environments, source)]
    for slot, (cell, arm) in enumerate(placed):
        yield _trial(campaign, seed, block, slot, cell, arm)


def _ordered(
    campaign: Campaign, seed: int, block: int, first_slot: int, before: Series | None
) -> Iterator[Trial]:
    """The starts of the order experiments, after everything else and drawn separately: they change no other order."""
    source = random.Random(f"{seed}-{block}-order")  # noqa: S311 - an order that can be repeated, not a secret
    wanted = [order for order in campaign.orders if block < order.boots]
    for slot, (order, environment, series) in enumerate(
        starts(wanted, campaign.environments, source, before), start=first_slot
    ):
        setting = f"{order.layout}~{series.ordering}"
        yield Trial(
            identity=trial_identity(block, order.workload.name, setting, environment.name, 0),
            block=block,
            slot=slot,
            environment=environment,
            replicate=0,
            layout=order.layout,
            workload=order.workload,
            limits=campaign.limits.of(order.layout),
            series=series,
            hosts=hosts_of_block(campaign, seed, block, order.layout),
        )


def hosts_of_block(campaign: Campaign, seed: int, block: int, layout: Layout) -> tuple[str, ...]:
    """The hosts that have the nodes of a layout in a block, all its trials alike.

    From block to block the layout moves on, until every host has had it as often; then in another order, so that
    hosts meet in other groups, which tells one from another.
    """
    names = [host.name for host in campaign.hosts]
    if not names:
        return ()
    turn, place = divmod(block, len(names) // math.gcd(len(names), layout.hosts))
    random.Random(f"{seed}-hosts-{turn}").shuffle(names)  # noqa: S311 - an order that can be repeated, not a secret
    first = place * layout.hosts
    return tuple(names[(first + number) % len(names)] for number in range(layout.hosts))


def trial_identity(block: int, workload: str, setting: str, environment: str, replicate: int) -> str:
    """Name a trial, such as ``b003-hpcc-1c2p1i-docker-0``: what runs, never when."""
    return f"b{block:03d}-{workload}-{setting}-{environment}-{replicate}"


def refuse_misnamed(trials: Iterable[Trial]) -> None:
    """``JournalError`` for a trial that has another's name, or that wrongly claims to be native.

    Otherwise two trials would count as one, or another environment as the reference.
    """
    for trial in trials:
        own = trial.environment
        named = trial_identity(trial.block, trial.workload.name, trial.setting, own.name, trial.replicate)
        if trial.identity != named or own.name == NATIVE != own.technology:
            raise JournalError(
                f"the journal says {shortened(trial.identity)} of a trial of {shortened(own.technology)} that is "
                f"{shortened(named)}: it was altered; restore it from a copy, or begin a new result"
            )


def _joined(cells: Sequence[_Cell]) -> list[_Cell]:
    """Move the cells of a sharing experiment to the first of them; everything else keeps its order."""
    experiments = [(workload.name, setting.close_to) for workload, setting in cells]
    order = sorted(range(len(cells)), key=lambda place: experiments.index(experiments[place]))
    return [cells[place] for place in order]


def _shuffled_arms(environments: Sequence[Environment], source: random.Random) -> list[_Arm]:
    arms: list[_Arm] = [(NATIVE_ENVIRONMENT, 0), (NATIVE_ENVIRONMENT, 1)]
    arms += [(environment, 0) for environment in sorted(environments, key=lambda entry: entry.name)]
    source.shuffle(arms)
    return arms


def _trial(campaign: Campaign, seed: int, block: int, slot: int, cell: _Cell, arm: _Arm) -> Trial:
    workload, setting = cell
    environment, replicate = campaign.environment_at(arm[0], setting), arm[1]
    return Trial(
        identity=trial_identity(block, workload.name, str(setting), environment.name, replicate),
        block=block,
        slot=slot,
        environment=environment,
        replicate=replicate,
        layout=setting.layout,
        workload=workload,
        limits=campaign.limits_of(environment, setting.limits),
        neighbour=setting.company.beside(environment) if setting.company else None,
        turns=turns_of(campaign, workload, setting),
        levels=setting.levels,
        hosts=hosts_of_block(campaign, seed, block, setting.layout),
    )


def turns_of(campaign: Campaign, workload: Workload, setting: Setting) -> Turns | None:
    """``None`` for a trial with company, or one that repeats its command within one start of the nodes."""
    if setting.experiment is not None or workload.iterations > 1:
        return None
    return None if workload.way is Way.WHOLE else campaign.turns
