# SPDX-License-Identifier: Apache-2.0
"""A fork bomb ends as one failed trial in every environment, long before its time limit, and nothing of it is left."""

import os
import secrets
from pathlib import Path

import pytest
from tests.contract.contract_nodes import has_emulated_devices
from tests.fake_campaign import fake_context
from tests.runaways import SANDBOXES, at_large, bomb, ready, run

from tare.host import standing
from tare.image.store import Image
from tare.nodes.provider import Provider
from tare.records import Status

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root for mounts and cgroups"),
]
_AS_NATIVE = {"chroot", "charliecloud"}
"""Held by the same group, and ended by the same code; tests/hostile/forkbombs.py has them too."""


def test_a_fork_bomb_is_one_failed_trial_that_leaves_nothing(
    provider: Provider, image: Image, state: Path, tmp_path: Path, programs: Path
) -> None:
    if provider.technology in _AS_NATIVE or has_emulated_devices(provider):
        pytest.skip("tried by make test-hostile")
    mark = f"bomb-{secrets.token_hex(4)}"
    name, time_s = ("tree", 0.6) if provider.takes_tap else ("sessions", 60.0)
    with standing.plain():
        context = ready(fake_context(tmp_path, programs), image, provider)
        outcome = run(context, *bomb(name, mark), time_s=time_s)
    assert (outcome.status, outcome.samples) == (Status.FAILED, ())
    assert outcome.facts["process limit"] == "64 processes"
    assert "not stopped cleanly" not in outcome.facts
    reason = outcome.reason or ""
    if provider.takes_tap:
        assert "ran into its time limit" in reason, "its kernel keeps the limit, and counts no refusals"
    elif provider.technology in SANDBOXES:
        assert "the node's memory limit" in reason or "the node's limit of 64 processes" in reason
    else:
        assert "the node's limit of 64 processes was reached; start fewer, or raise processes" in reason
        nofile = context.expected["limit of nofile"].replace(":", ", ")
        said = (context.raw_directory / "b000-t" / "i0.stdout").read_text()
        own = "limit of nofile" in provider.chosen(getattr(provider, "options", {})).labels
        assert said.splitlines()[0] == f"(1, 1) ({'1024, 1024' if own else nofile})"
    assert at_large(mark) == []
    assert list((state / "nodes").iterdir()) == []
