# SPDX-License-Identifier: Apache-2.0
"""A verdict in words, with its family."""

from tare.analyze.sentence import advice
from tare.records import Family, Verdict, Word


def claim_in_family(verdict: Verdict, by_itself: str) -> str:
    """Add the family to a verdict's claim; where the claim does not hold there, quote the claim ``by_itself``.

    Such as "slower by 5.2-8.1 % (n = 10; 1 of 6 primary claims)". A primary claim alone stays as it is.
    """
    standing, alone = verdict.standing, verdict.alone
    if standing is None or (standing.size == 1 and standing.family is Family.PRIMARY):
        return verdict.claim
    if verdict.word is Word.UNDECIDED and alone is not Word.UNDECIDED:
        return _not_together(verdict, by_itself, standing.family, standing.size)
    return _with_family(verdict.claim, standing.family, standing.size)


def _with_family(claim: str, family: Family, size: int) -> str:
    """Put the family into the last brackets with the count, which every claim has."""
    head, count, tail = claim.rpartition("(n = ")
    inside, bracket, rest = tail.partition(")")
    if not count or not bracket:
        return claim
    return f"{head}{count}{inside}; {_named(family, size)}){rest}"


def _named(family: Family, size: int) -> str:
    return f"1 of {size} {_plural(family)}"


def _plural(family: Family) -> str:
    return "primary claims" if family is Family.PRIMARY else "exploratory comparisons"


def _not_together(verdict: Verdict, by_itself: str, family: Family, size: int) -> str:
    return f"undecided among {size} {_plural(family)}; by itself {by_itself}; {advice(verdict.more_blocks)}"
