# SPDX-License-Identifier: Apache-2.0
"""Whatever an archive holds: one clear error, bounded memory, the store as before."""

import json
import os
import re
import resource
import time
from pathlib import Path
from typing import Any

import pytest

from tare.errors import TareError
from tare.image import find_image, recipe, verify
from tare.image.digest import list_tree
from tare.image.importing import import_image
from tests.image.hostile_archives import ARCHIVES
from tests.image.image_example import Member, write_tar
from tests.image.stand_ins import BWRAP, MMDEBSTRAP, quiet, sources, write_program

GROWTH_BYTE = 1 << 30
LIMIT_S = 20
LONGEST_MESSAGE = 600


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state folder with an image ``mine``, of which no test may change a byte."""
    folder = tmp_path_factory.mktemp("kept")
    for name, text in (("bwrap", BWRAP), ("mmdebstrap", MMDEBSTRAP)):
        write_program(folder / name, text)
    with pytest.MonkeyPatch.context() as patch:
        _use(folder, patch)
        import_image(write_tar(folder / "good.tar", [Member("usr/bin/tool", b"good")]), "mine", quiet)
    return folder


@pytest.fixture
def store(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    _use(kept, monkeypatch)
    return kept / "state" / "images"


def _use(folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    patch.setenv("TARE_STATE", str(folder / "state"))
    patch.setattr(recipe, "native_source", lambda: sources(folder))


def imported(source: Path) -> dict[str, Any]:
    """What a process of its own sees of the import as ``mine``: the error's kind and words, memory, processor time."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writing, json.dumps(_attempt(source)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        text = said.read()
    os.waitpid(child, 0)
    return dict(json.loads(text))


def _attempt(source: Path) -> dict[str, Any]:
    before, began, kind, message = _peak_byte(), time.process_time(), "", ""
    try:
        import_image(source, "mine", quiet)
    except TareError as error:
        kind, message = "refused", str(error)
    except BaseException as error:  # noqa: BLE001 - any other is what the test is about
        kind, message = type(error).__name__, str(error)
    return {
        "kind": kind,
        "message": message,
        "growth_byte": _peak_byte() - before,
        "used_s": time.process_time() - began,
    }


def _peak_byte() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _is_one_clear_error(seen: dict[str, Any]) -> None:
    assert seen["kind"] == "refused", seen
    assert seen["message"].isprintable()
    assert len(seen["message"]) <= LONGEST_MESSAGE
    assert seen["growth_byte"] < GROWTH_BYTE
    assert seen["used_s"] < LIMIT_S


@pytest.mark.root
@pytest.mark.parametrize("case", ARCHIVES)
def test_a_hostile_archive_is_one_clear_error_and_the_store_stays(
    case: str, store: Path, tmp_path: Path
) -> None:
    content, expected = ARCHIVES[case]
    (tmp_path / "archive").write_bytes(content())
    before = list_tree(store)
    seen = imported(tmp_path / "archive")
    _is_one_clear_error(seen)
    assert re.search(expected, seen["message"]), seen["message"]
    assert list_tree(store) == before
    verify(find_image("mine"))


def test_there_are_at_least_forty_of_them() -> None:
    assert len(ARCHIVES) >= 40
