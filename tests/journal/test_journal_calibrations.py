# SPDX-License-Identifier: Apache-2.0
"""Calibrations are kept whole, and a result cites the newest that is about this host and this version."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.calibrate.example import CALIBRATION
from tests.fake_campaign import Listener, fake_campaign, fake_request

from tare import __version__
from tare.errors import JournalError
from tare.host.facts import host_facts, host_identity
from tare.host.paths import calibrations_directory
from tare.journal.calibrations import (
    keep_calibration,
    newest_calibration,
    read_calibration,
    write_calibration,
)
from tare.pipeline import analyse_result, run_campaign
from tare.records import Calibration


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    path = keep_calibration(tmp_path / "kept", CALIBRATION)
    assert read_calibration(path) == CALIBRATION
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 99}', '{"schema": 1, "gates": 3}'])
def test_what_cannot_be_read_is_not_cited(tmp_path: Path, text: str) -> None:
    (tmp_path / "broken.json").write_text(text)
    assert read_calibration(tmp_path / "broken.json") is None
    assert newest_calibration(tmp_path, "host", "1.0") is None


def test_the_newest_of_this_host_and_version_is_found(tmp_path: Path) -> None:
    def keep(day: int, **changes: str) -> Calibration:
        made = replace(CALIBRATION, ended_utc=f"2026-01-{day:02d}T00:00:00+00:00", **changes)  # type: ignore[arg-type]
        keep_calibration(tmp_path, made)
        return made

    keep(1)
    newest = keep(2)
    keep(3, host_identity="another host")
    keep(4, tare_version="9.9")
    assert newest_calibration(tmp_path, CALIBRATION.host_identity, CALIBRATION.tare_version) == newest
    assert newest_calibration(tmp_path / "nowhere", CALIBRATION.host_identity, "1.0") is None


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="cannot keep the calibration"):
        write_calibration(tmp_path / "file" / "here.json", CALIBRATION)


@pytest.mark.usefixtures("fake_image")
def test_a_result_keeps_the_calibration_that_it_cites(tmp_path: Path) -> None:
    request = fake_request(fake_campaign(blocks=1), tmp_path / "result")
    assert run_campaign(request, Listener()).calibration is None
    here = replace(CALIBRATION, host_identity=host_identity(host_facts()), tare_version=__version__)
    keep_calibration(calibrations_directory(), here)
    assert run_campaign(request, Listener()).calibration == here
    for path in calibrations_directory().iterdir():
        path.unlink()
    assert analyse_result(request.folder.path).calibration == here
