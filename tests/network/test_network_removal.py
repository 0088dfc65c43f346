# SPDX-License-Identifier: Apache-2.0
"""Networks vanish without a trace: from any state, in any order, whoever else looks at them."""

import itertools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.network.namespaces import (
    AS_ROOT,
    LINKED,
    connected,
    gone_soon,
    holders,
    identities,
    let_go,
    links,
    specs_of,
)

from tare import network
from tare.host import mounts
from tare.network import netlink
from tare.records import NetworkKind

pytestmark = AS_ROOT


class Planted(BaseException):
    """As a KeyboardInterrupt: nothing in between may catch it."""


def failing_at(step: int, action: Callable[..., None]) -> Callable[..., None]:
    """Do everything up to a step, which is done and then fails."""
    calls = itertools.count(1)

    def counted(*arguments: object) -> None:
        action(*arguments)
        if next(calls) == step:
            raise Planted

    return counted


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("kind", LINKED)
def test_twenty_times_made_and_removed_leaves_nothing(kind: NetworkKind, tmp_path: Path) -> None:
    known: set[int] = set()
    held: set[str] = set()
    for _ in range(20):
        specs = specs_of(tmp_path, kind, count=3)
        with connected(specs):
            made = identities(specs)
            assert len(made) == 4
            known |= made
            held |= set(holders(made))
    assert mounts.mounts_below(tmp_path) == []
    assert [entry for spec in specs for entry in spec.directory.iterdir()] == []
    assert len(held) >= 4
    assert let_go(held, known)


@pytest.mark.parametrize("kind", LINKED)
@pytest.mark.parametrize("first", [0, 1])
def test_the_links_themselves_vanish_whichever_node_goes_first(
    kind: NetworkKind, first: int, tmp_path: Path
) -> None:
    """A namespace that the test keeps alive loses its end of the link: the switch is truly gone."""
    specs = specs_of(tmp_path, kind)
    for spec in specs:
        network.create(spec)
    with (specs[1].directory / "network").open() as kept:
        witness = Path(f"/proc/{os.getpid()}/fd/{kept.fileno()}")
        assert links(witness) == {"lo", "eth0"}
        for spec in [specs[first], specs[1 - first]]:
            network.remove(spec)
        assert gone_soon(lambda: links(witness) != {"lo"})


def test_a_copy_of_the_mounts_that_somebody_keeps_does_not_keep_the_network(tmp_path: Path) -> None:
    specs = specs_of(tmp_path, NetworkKind.VETH)
    for spec in specs:
        network.create(spec)
    known = identities(specs)
    copy = subprocess.Popen(
        ["unshare", "--mount", "--propagation", "private", "sh", "-c", "echo; exec sleep 60"],
        stdout=subprocess.PIPE,
    )
    try:
        assert copy.stdout is not None
        copy.stdout.readline()
        held = holders(known)
        assert any(holder.startswith(f"mount of {copy.pid}:") for holder in held)
        for spec in specs:
            network.remove(spec)
        assert let_go(held, known)
    finally:
        copy.kill()
        copy.communicate()


def test_removing_twice_and_removing_nothing_are_harmless(tmp_path: Path) -> None:
    specs = specs_of(tmp_path, NetworkKind.VETH)
    network.remove(specs[0])
    with connected(specs):
        pass
    network.remove(specs[0])
    specs[0].directory.rmdir()
    network.remove(specs[0])
    assert not specs[0].directory.exists()


@pytest.mark.parametrize("kind", LINKED)
@pytest.mark.parametrize(("module", "name"), [(netlink, "_request"), (mounts, "mount")])
def test_a_fault_at_any_step_leaves_nothing_after_removal(
    kind: NetworkKind,
    module: ModuleType,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = 0
    for step in itertools.count(1):
        specs = specs_of(tmp_path / str(step), kind, rto_min_s=0.002)
        with monkeypatch.context() as patched:
            patched.setattr(module, name, failing_at(step, getattr(module, name)))
            try:
                for spec in specs:
                    network.create(spec)
            except Planted:
                steps += 1
                known = identities(specs)
                held = holders(known)
            else:
                break
            finally:
                for spec in reversed(specs):
                    network.remove(spec)
        assert mounts.mounts_below(tmp_path) == []
        assert [entry for spec in specs for entry in spec.directory.iterdir()] == []
        assert let_go(held, known)
    assert steps >= 3
