# SPDX-License-Identifier: Apache-2.0
"""Who sends the image to which host: every host that has it passes it on, so that this one sends it once.

So the number of hosts with the image doubles with every round. This host sends it where none of the others has it or is
getting it, and to a host that could not get it from another. Each host has a thread, and all share one ``ImageSpread``.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tare.environments.ssh.connection import Far
from tare.errors import NodeError
from tare.records import Carried

_MOST_FAILURES = 3
"""In a row: then this host sends to all others, as a packet filter may be between all of them."""
_WAIT_LIMIT_S = 4 * 3600.0
"""Nothing that others wait for takes longer."""
_ENDED = "the run ends"


@dataclass(eq=False, slots=True)
class Holder:
    """A host that has the image."""

    far: Far
    name: str
    transfers: int
    """How many there were, one after the other, up to the last one in which this host had a part."""


class ImageSpread:
    """One image on its way to the hosts of a list, or to a host of none."""

    def __init__(
        self,
        digest: str,
        subnet: str | None = None,
        names: Mapping[Far, str] | None = None,
        silent: Collection[str] = (),
    ) -> None:
        """``names``: the way to each host → its name. Those whose name is among the ``silent`` pass nothing on."""
        self.digest, self.subnet = digest, subnet
        self.carried: dict[str, Carried] = {}
        """Name of a host to which it came → how."""
        self.remarks: list[str] = []
        """Of each transfer between two hosts that failed."""
        self._names, self._silent = names or {}, silent
        self._changed = threading.Condition()
        self._free: list[Holder] = []
        self._known: set[Far] = set()
        self._coming = 0
        """How many hosts that may pass it on get it now, or look whether they have it."""
        self._failures = 0
        self._is_over = False
        self._endings: list[Callable[[], None]] = []

    def concerns(self, far: Far, digest: str) -> bool:
        """Whether this is the image, and the host is of the list."""
        return digest == self.digest and far.way in self._names

    @contextmanager
    def looking(self, far: Far) -> Iterator[None]:
        """While a host looks whether it has the image: hosts that lack it wait if this one may pass it on."""
        promising = self._name(far) not in self._silent
        with self._changed:
            self._require_wanted()
            self._coming += promising
        try:
            yield
        finally:
            self._comes_no_more(promising)

    def is_there(self, far: Far, address: str | None) -> None:
        """The host at this address of the subnet, if it has one there, has the image already."""
        with self._changed:
            self._hold(far, address, transfers=0)

    def bring(
        self,
        far: Far,
        address: str | None,
        from_here: Callable[[], None],
        from_host: Callable[[Holder], None],
    ) -> None:
        """Have a host get the image by one of the two ways, which raise ``NodeError`` if it did not come whole.

        Waits until another host is free to send it; ``NodeError`` when it came by neither.
        """
        begun_s = time.monotonic()
        promising = address is not None and self._name(far) not in self._silent
        source = self._source(address, promising)
        try:
            if source is not None and not self._is_passed_on(source, far, from_host):
                source = None
            if source is None:
                self._require_wanted()
                from_here()
            self._arrived(far, address, source, time.monotonic() - begun_s)
        finally:
            self._comes_no_more(promising)

    @contextmanager
    def ended_by(self, ending: Callable[[], None]) -> Iterator[None]:
        """While a transfer goes on: how it is ended when the run ends."""
        with self._changed:
            self._endings.append(ending)
        try:
            self._require_wanted()
            yield
        finally:
            with self._changed:
                self._endings.remove(ending)

    def end(self) -> None:
        """Whoever waits or transfers something ends."""
        with self._changed:
            self._is_over, endings = True, list(self._endings)
            self._changed.notify_all()
        for ending in endings:
            with suppress(NodeError):
                ending()

    def _source(self, address: str | None, promising: bool) -> Holder | None:
        """The host from which to get it, which is the caller's until then; ``None``: from this one."""
        with self._changed:
            while self._is_worth_waiting(address):
                if not self._changed.wait(_WAIT_LIMIT_S):
                    raise NodeError("no other host got the image in time")
            self._require_wanted()
            self._coming += promising
            if not self._can_pass(address) or not self._free:
                return None
            source = min(self._free, key=lambda holder: holder.transfers)
            self._free.remove(source)
            return source

    def _comes_no_more(self, promising: bool) -> None:
        with self._changed:
            self._coming -= promising
            self._changed.notify_all()

    def _is_worth_waiting(self, address: str | None) -> bool:
        return self._can_pass(address) and not self._free and self._coming > 0 and not self._is_over

    def _can_pass(self, address: str | None) -> bool:
        return address is not None and self._failures < _MOST_FAILURES

    def _require_wanted(self) -> None:
        if self._is_over:
            raise NodeError(_ENDED)

    def _is_passed_on(self, source: Holder, far: Far, from_host: Callable[[Holder], None]) -> bool:
        """Whether it came whole; a host from which it did not is asked no more."""
        try:
            from_host(source)
        except NodeError as error:
            with self._changed:
                self._failures += 1
                self.remarks.append(
                    f"{self._name(far)} could not get the image from {source.name}, and gets it from here: {error}"
                )
            return False
        with self._changed:
            self._failures = 0
            source.transfers += 1
            self._free.append(source)
        return True

    def _arrived(self, far: Far, address: str | None, source: Holder | None, wall_s: float) -> None:
        with self._changed:
            transfers = 1 if source is None else source.transfers
            by = None if source is None else source.name
            self.carried[self._name(far)] = Carried(source=by, wall_s=wall_s, transfers=transfers)
            self._hold(far, address, transfers)

    def _hold(self, far: Far, address: str | None, transfers: int) -> None:
        name = self._name(far)
        if address is not None and name not in self._silent and far.way not in self._known:
            self._known.add(far.way)
            self._free.append(Holder(far.way, name, transfers))
            self._changed.notify_all()

    def _name(self, far: Far) -> str:
        return self._names.get(far.way, far.host)


_now: list[ImageSpread] = []
"""The one of this run, if any."""


@contextmanager
def spreading(spread: ImageSpread) -> Iterator[None]:
    """Have its hosts get the image by it within this context; at its end nothing of it goes on.

    If the run is interrupted, threads may still come for its hosts, and get nothing.
    """
    _now[:] = [spread]
    try:
        yield
        _now.remove(spread)
    finally:
        spread.end()


def current(far: Far, digest: str) -> ImageSpread:
    """The one by which this host gets the image; without one this host sends it."""
    return next((spread for spread in _now if spread.concerns(far, digest)), ImageSpread(digest))
