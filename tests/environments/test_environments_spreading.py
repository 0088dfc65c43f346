# SPDX-License-Identifier: Apache-2.0
"""Who sends the image to which host, without any host: the transfers are the test's own."""

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import pytest

from tare.environments.ssh.connection import Far
from tare.environments.ssh.spreading import Holder, ImageSpread, current, spreading
from tare.errors import NodeError

DIGEST = "sha256:1"


def fars(count: int) -> list[Far]:
    return [Far(host=f"h{number}") for number in range(count)]


def spread_over(hosts: list[Far], **changes: object) -> ImageSpread:
    return ImageSpread(DIGEST, "10.0.0.0/8", {far.way: far.host for far in hosts}, **changes)  # type: ignore[arg-type]


def nothing() -> None:
    """Came whole."""


def nothing_from(_source: Holder) -> None:
    """Came whole."""


def refused(_source: Holder) -> None:
    raise NodeError("connection refused")


class InRounds:
    """Lets all transfers of a round end together once as many go on as hosts can send."""

    def __init__(self, hosts: int) -> None:
        self._changed = threading.Condition()
        self._hosts, self._have, self._going, self.rounds = hosts, 0, 0, 0

    def transfer(self, *_: object) -> None:
        with self._changed:
            self._going += 1
            mine = self.rounds
            if self._going == min(max(1, self._have), self._hosts - self._have):
                self._have += self._going
                self._going, self.rounds = 0, self.rounds + 1
                self._changed.notify_all()
            while self.rounds == mine:
                assert self._changed.wait(20), "fewer transfers go on than hosts could send"


@pytest.mark.parametrize("count", [1, 2, 3, 8, 64, 100])
def test_rounds_grow_as_the_logarithm_of_the_hosts_and_this_host_sends_once(count: int) -> None:
    hosts, rounds = fars(count), InRounds(count)
    spread = spread_over(hosts)
    with ThreadPoolExecutor(count) as pool:
        bring = partial(
            spread.bring, address="10.0.0.1", from_here=rounds.transfer, from_host=rounds.transfer
        )
        list(pool.map(bring, hosts))
    assert rounds.rounds == 1 + math.ceil(math.log2(count))
    assert max(way.transfers for way in spread.carried.values()) == rounds.rounds
    assert [way.source for way in spread.carried.values()].count(None) == 1
    assert set(spread.carried) == {far.host for far in hosts}


def test_a_host_that_has_the_image_already_is_the_one_that_sends() -> None:
    hosts = fars(2)
    spread = spread_over(hosts)
    for _ in range(3):  # once for each environment
        spread.is_there(hosts[0], "10.0.0.1")
    taken: list[str] = []
    spread.bring(hosts[1], "10.0.0.2", pytest.fail, lambda source: taken.append(source.name))
    assert taken == ["h0"]
    assert set(spread.carried) == {"h1"}


def test_hosts_that_pass_nothing_on_get_it_from_here_at_the_same_time() -> None:
    hosts, together = fars(4), threading.Barrier(4)
    spread = spread_over(hosts, silent={far.host for far in hosts})
    with ThreadPoolExecutor(4) as pool:

        def from_here() -> None:
            together.wait(20)

        bring = partial(spread.bring, address="10.0.0.1", from_here=from_here, from_host=refused)
        list(pool.map(bring, hosts))
    assert not together.broken
    assert [way.source for way in spread.carried.values()] == [None] * 4


def test_who_lacks_the_image_waits_for_those_who_still_look_whether_they_have_it() -> None:
    hosts = fars(2)
    spread = spread_over(hosts)
    with ThreadPoolExecutor(1) as pool:
        with spread.looking(hosts[0]):
            lacking = pool.submit(spread.bring, hosts[1], "10.0.0.2", pytest.fail, nothing_from)
            assert spread.carried == {}
            spread.is_there(hosts[0], "10.0.0.1")
        lacking.result(20)
    assert spread.carried["h1"].source == "h0"


@pytest.mark.parametrize("address", [None, "10.0.0.2"])
def test_this_host_sends_to_one_outside_of_the_subnet_and_where_all_others_are_silent(
    address: str | None,
) -> None:
    hosts = fars(2)
    spread = spread_over(hosts, silent=["h0"])
    spread.is_there(hosts[0], "10.0.0.1")
    spread.bring(hosts[1], address, nothing, lambda _: pytest.fail("it was passed on"))
    assert spread.carried["h1"].source is None


def test_what_failed_between_two_hosts_comes_from_here_and_both_are_named() -> None:
    hosts = fars(2)
    spread = spread_over(hosts)
    spread.is_there(hosts[0], "10.0.0.1")
    spread.bring(hosts[1], "10.0.0.2", nothing, refused)
    assert spread.carried["h1"].source is None
    assert spread.remarks == ["h1 could not get the image from h0, and gets it from here: connection refused"]


def test_after_three_failures_in_a_row_nobody_waits_for_another_host_any_more() -> None:
    hosts = fars(5)
    spread = spread_over(hosts)
    spread.is_there(hosts[0], "10.0.0.1")
    for far in hosts[1:4]:
        spread.bring(far, "10.0.0.2", nothing, refused)
    spread.bring(hosts[4], "10.0.0.2", nothing, lambda _: pytest.fail("it was passed on"))
    assert len(spread.remarks) == 3


def test_a_host_that_cannot_get_it_at_all_holds_up_no_other() -> None:
    hosts = fars(2)
    spread = spread_over(hosts)
    begun, failing = threading.Event(), threading.Event()

    def fail() -> None:
        begun.set()
        assert failing.wait(20)
        raise NodeError("its disk is full")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(spread.bring, hosts[0], "10.0.0.1", fail, refused)
        assert begun.wait(20)
        second = pool.submit(spread.bring, hosts[1], "10.0.0.2", nothing, refused)
        failing.set()
        with pytest.raises(NodeError, match="its disk is full"):
            first.result(20)
        second.result(20)
    assert set(spread.carried) == {"h1"}


def test_at_the_end_of_a_run_whoever_waits_or_transfers_ends() -> None:
    hosts = fars(2)
    begun, ended = threading.Event(), threading.Event()
    spread = spread_over(hosts)

    def transfer() -> None:
        with spread.ended_by(ended.set):
            begun.set()
            assert ended.wait(20)
            raise NodeError("ended")

    with ThreadPoolExecutor(2) as pool:
        with suppress(KeyboardInterrupt), spreading(spread):
            assert current(hosts[0], DIGEST) is spread
            results = [pool.submit(spread.bring, far, "10.0.0.1", transfer, refused) for far in hosts]
            assert begun.wait(20)
            raise KeyboardInterrupt
        for result in results:
            with pytest.raises(NodeError, match=r"ended|the run ends"):
                result.result(20)
    assert spread.carried == {}
    with pytest.raises(NodeError, match="the run ends"), current(hosts[0], DIGEST).looking(hosts[0]):
        pytest.fail("the next environment's image is on its way")
    with spreading(spread_over(hosts)):
        assert current(hosts[0], DIGEST) is not spread
    assert not current(hosts[0], DIGEST).concerns(hosts[0], DIGEST)  # each host by itself
