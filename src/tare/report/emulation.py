# SPDX-License-Identifier: Apache-2.0
"""Guests whose instructions a program ran: what is said before anybody reads their figures."""

from collections.abc import Iterable

from tare.records import Outcome

_FACT, _WORDS = "accelerator", "TCG"


def emulated(outcomes: Iterable[Outcome]) -> str | None:
    """A sentence with the environments that ran by software emulation; ``None`` when none did."""
    names = {outcome.trial.environment.name for outcome in outcomes if _WORDS in outcome.facts.get(_FACT, "")}
    if not names:
        return None
    return (
        f"By software emulation (TCG), as no hypervisor could be used: {', '.join(sorted(names))}. "
        "These figures are an emulator's and say nothing about KVM."
    )
