# SPDX-License-Identifier: Apache-2.0
"""The devices that a campaign gives to all its arms."""

from pathlib import Path

import pytest

from tare.errors import CampaignError
from tare.plan import checks
from tests.plan.plan_example import PROVIDERS, kept_and_read, load_text
from tests.plan.test_plan_campaign import MINIMAL, problems
from tests.plan.test_plan_hosts import CAMPAIGN, load


def test_devices_are_the_same_for_all_environments_and_kept_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "find_devices", lambda _: ())
    monkeypatch.setattr(PROVIDERS["docker"], "device_refusal", None, raising=False)
    campaign = load_text(tmp_path, f'devices = ["nvidia", "/dev/fuse", "nvidia"]\n{MINIMAL}')
    assert campaign.devices == ("nvidia", "/dev/fuse")
    assert kept_and_read(campaign) == campaign


def test_an_environment_that_cannot_have_devices_is_refused_where_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "find_devices", lambda _: ())
    monkeypatch.setattr(PROVIDERS["docker"], "device_refusal", "it is a stub", raising=False)
    (line,) = problems(tmp_path, f'devices = ["nvidia"]\n{MINIMAL}')
    assert "docker cannot have nvidia: it is a stub" in line


def test_devices_that_this_host_has_not_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PROVIDERS["docker"], "device_refusal", None, raising=False)
    (line,) = problems(tmp_path, f'devices = ["/dev/tare-none"]\n{MINIMAL}')
    assert ":1: devices: /dev/tare-none cannot be looked at" in line


def test_what_is_no_device_is_refused_where_it_stands(tmp_path: Path) -> None:
    (line,) = problems(tmp_path, f'devices = ["/dev/fuse", "gpu"]\n{MINIMAL}')
    assert ":1: devices[2]: 'gpu' is none of nvidia" in line


def test_the_folder_of_a_fabric_stands_for_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "find_devices", lambda _: ())
    monkeypatch.setattr(PROVIDERS["docker"], "device_refusal", None, raising=False)
    campaign = load_text(tmp_path, f'devices = ["/dev/infiniband", "infiniband"]\n{MINIMAL}')
    assert campaign.devices == ("infiniband",)


def test_devices_over_hosts_are_not_this_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PROVIDERS["bottle"], "device_refusal", None, raising=False)
    monkeypatch.setattr(PROVIDERS["native"], "device_refusal", None, raising=False)
    assert load(tmp_path, f'devices = ["/dev/tare-none"]\n{CAMPAIGN}').devices == ("/dev/tare-none",)
    with pytest.raises(CampaignError, match="'gpu' is none of nvidia"):
        load(tmp_path, f'devices = ["gpu"]\n{CAMPAIGN}')
