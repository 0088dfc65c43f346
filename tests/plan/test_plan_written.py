# SPDX-License-Identifier: Apache-2.0
"""Which directories of the host a campaign may show to its nodes."""

from pathlib import Path

import pytest

from tare.nodes.provider import Bind
from tare.plan.written import normal_bind, parse_bind


def test_a_bare_directory_is_bound_read_only_by_its_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "job").mkdir()
    monkeypatch.chdir(tmp_path)
    assert parse_bind(normal_bind("job")) == Bind(path=tmp_path / "job", writable=False)


def test_rw_makes_it_writable(tmp_path: Path) -> None:
    assert parse_bind(normal_bind(f"{tmp_path}:rw")) == Bind(path=tmp_path, writable=True)


@pytest.mark.parametrize("text", ["/", "/usr", "/mnt/tare/", "/no/such/directory", ":rw", "/tmp:wx", ""])
def test_what_would_hide_the_image_or_is_no_directory_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"write DIR|no directory|would hide"):
        normal_bind(text)


def test_a_link_to_the_root_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/")
    with pytest.raises(ValueError, match="would hide"):
        normal_bind(str(tmp_path / "link"))
