# SPDX-License-Identifier: Apache-2.0
"""Commands that run wild, natively: what they print, open, dump and write ends in their trial and in words."""

import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fake_campaign import fake_context
from tests.measure.measure_nodes import AS_ROOT
from tests.runaways import FEW, MEBIBYTE, ready, run

from tare.environments import PROVIDERS
from tare.host import mounts, standing
from tare.host.cgroups import Group
from tare.image.store import Image
from tare.measure.context import Context
from tare.records import Outcome, Status, Storage

pytestmark = AS_ROOT
CORE_PATTERN = Path("/proc/sys/kernel/core_pattern")
OPENING = """
import os
opened = 0
try:
    while opened < 1_000_000:
        os.open("/dev/null", os.O_RDONLY)
        opened += 1
except OSError as error:
    print(opened, error.strerror, flush=True)
"""
CRASH = "python3 -c 'import os; os.kill(os.getpid(), 11)'; echo $?; ls | grep -c ^core"


@pytest.fixture
def context(tmp_path: Path, programs: Path, image: Image, state: Path) -> Iterator[Context]:  # noqa: ARG001 - nodes lie there
    with standing.plain():
        yield ready(fake_context(tmp_path, programs), image, PROVIDERS["native"])


def said(context: Context) -> list[str]:
    return (context.raw_directory / "b000-t" / "i0.stdout").read_text().split()


def failed(outcome: Outcome) -> str:
    assert (outcome.status, outcome.samples) == (Status.FAILED, ())
    return outcome.reason or ""


def test_what_is_printed_without_end_ends_at_the_limit(context: Context) -> None:
    bounds = replace(FEW, output_byte=MEBIBYTE)
    reason = failed(run(context, "/usr/bin/yes", bounds=bounds))
    assert reason == (
        "/usr/bin/yes was ended by signal 25 (SIGXFSZ): a file, or what it prints, may have 1 MiB at most; "
        "raise output under [limits]"
    )


def test_a_million_open_files_are_refused_the_process_that_opens_them(context: Context) -> None:
    bounds = replace(FEW, open_files=100)
    unlike = replace(context, expected={})
    assert run(unlike, "/usr/bin/python3", "-c", OPENING, bounds=bounds).status is Status.OK
    assert said(context)[1:] == ["Too", "many", "open", "files"]
    assert 90 <= int(said(context)[0]) < 100


@pytest.mark.skipif(
    CORE_PATTERN.read_text().startswith(("|", "/", "@")), reason="cores do not go to the folder"
)
@pytest.mark.parametrize(("core_byte", "cores"), [(0, "0"), (64 * MEBIBYTE, "1")])
def test_a_crash_leaves_a_core_file_only_where_one_is_asked_for(
    context: Context, core_byte: int, cores: str
) -> None:
    """The second shows that the first could fail."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    if before[1] != resource.RLIM_INFINITY:
        pytest.skip("whoever runs the tests may have no core files")
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    try:
        run(replace(context, expected={}), "/bin/sh", "-c", CRASH, bounds=replace(FEW, core_byte=core_byte))
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    assert said(context)[-2:] == ["139", cores]


def test_what_fills_the_disk_below_its_layer_ends_with_the_reason(context: Context, state: Path) -> None:
    """A file system of its own, as the tests beside write too."""
    nodes = state / "nodes"
    nodes.mkdir(parents=True)
    mounts.mount("tare-test", nodes, "tmpfs", 0, f"size={64 * MEBIBYTE},mode=700")
    try:
        bounds = replace(FEW, disk_byte=8 * MEBIBYTE)
        script = "head -c 16M /dev/zero > /root/full; sleep 20"
        outcome = run(context, "/bin/sh", "-c", script, time_s=20, bounds=bounds, storage=Storage.DISK)
    finally:
        mounts.unmount_below(nodes)
    reason = failed(outcome)
    assert reason.startswith(f"the disk below the nodes' layers ({nodes}/tare-")
    assert "lost 16 MiB in this trial, more than the limit of 8 MiB; write less, or raise disk" in reason


def test_a_limit_that_the_node_does_not_keep_fails_the_trial(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Group.limit
    monkeypatch.setattr(Group, "limit", lambda group, *limits: kept(group, *limits[:3]))
    reason = failed(run(context, "/bin/true"))
    words = "the node's limits do not hold: process limit (host's cgroup) should be 64 and are None"
    assert reason == words
