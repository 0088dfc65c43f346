# SPDX-License-Identifier: Apache-2.0
"""What a command that reads one result goes without, and that all is as before when it ends."""

import gc
import os

import pytest

from tare.commands.show import _lightly


def test_one_thread_no_plugin_and_no_collection_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    before = dict(os.environ)
    with _lightly():
        assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
        assert not gc.isenabled()
    assert dict(os.environ) == before
    assert gc.isenabled()


def test_what_the_user_has_set_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "8")
    with _lightly():
        assert os.environ["OPENBLAS_NUM_THREADS"] == "8"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "8"
