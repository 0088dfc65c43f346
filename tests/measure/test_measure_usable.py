# SPDX-License-Identifier: Apache-2.0
"""An environment that does not work is skipped with its reason; without native nothing can be compared."""

from pathlib import Path

import pytest

from tare.environments.fake import Fake
from tare.errors import HostError, NodeError
from tare.image.store import Image
from tare.measure.usable import skipped_environments
from tare.nodes.provider import Probe
from tare.records import Environment

IMAGE = Image("default", Path("/image"), "sha256:0")


class Missing(Fake):
    def probe(self) -> Probe:
        return Probe(usable=False, reason="it is missing", remedy="install it")


class Unprepared(Fake):
    def prepare(self, image_root: Path, image_digest: str) -> None:
        raise NodeError(f"cannot import {image_digest} from {image_root}")


class Tripping(Fake):
    def probe(self) -> Probe:
        raise PermissionError(13, "Permission denied", "/usr/bin/tool")


def environment(name: str, technology: str) -> Environment:
    return Environment(name=name, technology=technology)


def test_what_works_is_not_skipped() -> None:
    assert skipped_environments([environment("a", "fake")], {"native": Fake(), "fake": Fake()}, IMAGE) == ()


def test_each_that_does_not_work_is_skipped_with_reason_and_remedy() -> None:
    providers = {"native": Fake(), "fake": Fake(), "m": Missing(), "u": Unprepared(), "t": Tripping()}
    wanted = [environment(name, name) for name in ("m", "fake", "u", "t")]
    skipped = skipped_environments(wanted, providers, IMAGE)
    assert [(skipped.environment, skipped.reason) for skipped in skipped] == [
        ("m", "it is missing"),
        ("u", "cannot import sha256:0 from /image"),
        ("t", "[Errno 13] Permission denied: '/usr/bin/tool'"),
    ]
    assert all(skipped.remedy for skipped in skipped)


def test_one_that_is_not_usable_is_not_prepared() -> None:
    class Both(Missing, Unprepared):
        """Neither there nor to be prepared."""

    (skipped,) = skipped_environments([environment("b", "b")], {"native": Fake(), "b": Both()}, IMAGE)
    assert skipped.reason == "it is missing"


def test_without_native_nothing_can_be_compared() -> None:
    with pytest.raises(HostError, match=r"native cannot run here.*it is missing; install it"):
        skipped_environments([], {"native": Missing()}, IMAGE)
