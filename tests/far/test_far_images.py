# SPDX-License-Identifier: Apache-2.0
"""An image that was carried here is for the nodes of whoever carried it, and for nobody else on this host."""

import stat
from pathlib import Path

from tare.far.images import FarImage, image_root
from tare.image import digest


def test_a_carried_image_is_closed_to_other_users_from_its_first_file_on(tmp_path: Path) -> None:
    (tmp_path / "sent").mkdir()
    (tmp_path / "sent/su").write_text("set-user-id")
    (tmp_path / "sent/su").chmod(0o4755)
    wanted = digest.digest(digest.list_tree(tmp_path / "sent"))
    image = FarImage(tmp_path / "state", wanted)
    into = image.begin()
    assert stat.S_IMODE(into.parent.stat().st_mode) == 0o700
    (into / "su").write_text("set-user-id")
    (into / "su").chmod(0o4755)
    into.chmod(stat.S_IMODE((tmp_path / "sent").stat().st_mode))
    image.finish()
    image.release()
    assert stat.S_IMODE(image_root(tmp_path / "state", wanted).parent.stat().st_mode) == 0o700
