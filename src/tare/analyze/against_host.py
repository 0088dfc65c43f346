# SPDX-License-Identifier: Apache-2.0
"""An environment against the host's own build: a container's cost and the software's, taken apart.

The image's files run natively are between the two: they differ from the host's by software alone, and from the
environment by the container alone. Each interval is from the common blocks of its pair, and holds by itself.
"""

from collections.abc import Collection, Iterator, Sequence

from tare.records import NATIVE, Estimate, HostShare, Ranking


def host_shares(rankings: Sequence[Ranking], hosts: Collection[str]) -> tuple[HostShare, ...]:
    """One per cell and environment, on the primary metric; ``hosts``: environments with the host's own files."""
    return tuple(share for ranking in rankings for share in _shares(ranking, hosts))


def _shares(ranking: Ranking, hosts: Collection[str]) -> Iterator[HostShare]:
    for host in (place.environment for place in ranking.places if place.environment in hosts):
        for place in ranking.places:
            if place.overhead is not None and place.environment not in hosts:
                yield HostShare(
                    cell=ranking.cell,
                    metric=ranking.metric,
                    host=host,
                    environment=place.environment,
                    total=_more_time(ranking, host, place.environment),
                    software=_more_time(ranking, host, NATIVE),
                    container=place.overhead,
                )


def _more_time(ranking: Ranking, first: str, second: str) -> Estimate:
    """How much more time the second takes, whichever way round the ranking has the two."""
    pair = next(each for each in ranking.pairs if {each.first, each.second} == {first, second})
    return pair.difference if pair.first == first else _inverse(pair.difference)


def _inverse(estimate: Estimate) -> Estimate:
    """The same ratio seen from the other side."""
    low, high = estimate.high, estimate.low
    return Estimate(
        point=_turned(estimate.point),
        low=None if low is None else _turned(low),
        high=None if high is None else _turned(high),
        level=estimate.level,
        n=estimate.n,
    )


def _turned(fraction: float) -> float:
    return 1 / (1 + fraction) - 1
