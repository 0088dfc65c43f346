# SPDX-License-Identifier: Apache-2.0
"""Guests that a program ran, or that were restored: what is said before anybody reads their figures."""

from collections.abc import Iterable

from tare.records import Outcome


def emulated(outcomes: Iterable[Outcome]) -> str | None:
    """A sentence with the environments that ran by software emulation; ``None`` when none did."""
    if not (names := _names(outcomes, "accelerator", "TCG")):
        return None
    return (
        f"By software emulation (TCG), as no hypervisor could be used: {names}. "
        "These figures are an emulator's and say nothing about KVM."
    )


def restored(outcomes: Iterable[Outcome]) -> str | None:
    """A sentence with the environments whose guests were restored from a snapshot; ``None`` when none was."""
    if not (names := _names(outcomes, "guest's start", "snapshot")):
        return None
    return (
        f"Restored from a snapshot, and not booted: {names}. Guests that are alike share one boot, so what a boot "
        "draws by lot, such as how memory is laid out, is the same in all blocks: no interval shows it."
    )


def _names(outcomes: Iterable[Outcome], fact: str, word: str) -> str:
    """Of the environments with outcomes of which this fact holds this word."""
    return ", ".join(
        sorted(
            {outcome.trial.environment.name for outcome in outcomes if word in outcome.facts.get(fact, "")}
        )
    )
