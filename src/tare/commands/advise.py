# SPDX-License-Identifier: Apache-2.0
"""``tare advise``: which environment for which application, from what is known of this host."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tare.commands.advised import KnownHere, application_of, gathered, known_of
from tare.commands.needs import StatedNeeds, parse_needs
from tare.errors import ExitCode, InputError
from tare.records.advice import Advice, Application, Rejected, Required


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviseOptions:
    """Options from the command line."""

    workload: str | None = None
    layout: str | None = None
    needs: tuple[str, ...] = ()
    known: tuple[Path, ...] = ()
    count_calls: bool = False
    as_json: bool = False


def run_advise(results: tuple[Path, ...], options: AdviseOptions) -> ExitCode:
    """Print the advice; ``CANNOT`` if nothing was measured and nothing can be predicted.

    Raises ``InputError`` if no application is named or stated.
    """
    from tare.commands.console import PlainConsole
    from tare.report.advice import print_advice, to_json

    if options.count_calls:
        from tare.commands.counting import count_calls

        for result in results:
            count_calls(result)
    advice = advised(results, options)
    if options.as_json:
        print(json.dumps(to_json(advice), indent=2, allow_nan=False))
    else:
        print_advice(advice, PlainConsole())
    answered = advice.measured or any(each.stands for each in advice.predicted)
    return ExitCode.DONE if answered else ExitCode.CANNOT


def advised(results: tuple[Path, ...], options: AdviseOptions) -> Advice:
    """The advice from the named results and the folders of others."""
    from tare.analyze.advice import advise

    needs = parse_needs(options.needs)
    every = gathered(results, options.known)
    application = _application(every, needs, options)
    arms = [arm for arm in every.arms.values() if _is_there(every, arm.of or arm.name)]
    return advise(
        application,
        arms,
        known_of(every, application, options.layout),
        tuple(_rejected(every, needs.required)),
        tuple(every.ignored),
    )


def _is_there(every: KnownHere, name: str) -> bool:
    return name in every.environments


def _application(every: KnownHere, needs: StatedNeeds, options: AdviseOptions) -> Application:
    """What was measured, with what was stated in its place; a stated one alone where there is no other."""
    own = application_of(every, options.workload, options.layout)
    if own is not None:
        return replace(own, rates={**own.rates, **needs.rates})
    if not needs.rates:
        raise InputError(
            "which application? Name a result of tare weigh, or a workload of a result by --workload, or say what it "
            'uses: --needs "messages 1000/s, memory-bound"'
        )
    return Application(name="an application as stated", layout=options.layout, rates=needs.rates)


def _rejected(every: KnownHere, required: Iterable[Required]) -> Iterator[Rejected]:
    """Each environment, and each of its cures, that fails a requirement; by the first that it fails."""
    from tare.analyze.advice import unsuitable
    from tare.environments.suitability import suitability_of

    required = tuple(required)
    for arm in every.arms.values():
        suitability = suitability_of(every.environments[arm.of or arm.name])
        reasons = ((need, unsuitable(suitability, need)) for need in required)
        failed = next(((need, why) for need, why in reasons if why is not None), None)
        if failed is not None:
            yield Rejected(arm=arm, reason=f"{failed[1]} ({failed[0]})")
