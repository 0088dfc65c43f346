# SPDX-License-Identifier: Apache-2.0
"""The devices that a campaign gives to all its arms."""

from pathlib import Path

import pytest

from tare.plan import written
from tests.plan.plan_example import PROVIDERS, kept_and_read, load_text
from tests.plan.test_plan_campaign import MINIMAL, problems


def test_devices_are_the_same_for_all_environments_and_kept_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(written, "find_devices", lambda _: ())
    monkeypatch.setattr(PROVIDERS["docker"], "device_refusal", None, raising=False)
    campaign = load_text(tmp_path, f'devices = ["nvidia", "/dev/fuse", "nvidia"]\n{MINIMAL}')
    assert campaign.devices == ("nvidia", "/dev/fuse")
    assert kept_and_read(campaign) == campaign


def test_an_environment_that_cannot_have_devices_is_refused_where_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(written, "find_devices", lambda _: ())
    monkeypatch.setattr(PROVIDERS["docker"], "device_refusal", "it is a stub", raising=False)
    (line,) = problems(tmp_path, f'devices = ["nvidia"]\n{MINIMAL}')
    assert "docker cannot have nvidia: it is a stub" in line


def test_devices_that_this_host_has_not_or_that_are_none_are_refused(tmp_path: Path) -> None:
    lines = problems(tmp_path, f'devices = ["/dev/tare-none", "gpu"]\n{MINIMAL}')
    assert "/dev/tare-none cannot be looked at" in lines[0]
    assert "'gpu' is none of nvidia" in lines[1]
