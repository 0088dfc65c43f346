# SPDX-License-Identifier: Apache-2.0
"""The faults that ``bench.npb_mutations`` plants in the NAS kernels can be planted, and are taken out again."""

from collections import Counter
from pathlib import Path

import pytest
from bench.npb_mutations import KERNELS, MUTATIONS, NATIVE, holder, planted


def test_every_kernel_has_some_faults_and_all_together_at_least_thirty() -> None:
    of_kernels = Counter(mutation.kernel for mutation in MUTATIONS)
    assert set(of_kernels) == set(KERNELS)
    assert min(of_kernels.values()) >= 5
    assert of_kernels.total() >= 30


def test_the_text_that_a_fault_replaces_is_there_once() -> None:
    """Where a kernel has changed, the list is to be mended."""
    for mutation in MUTATIONS:
        assert holder(NATIVE / "npb" / mutation.place, mutation.text).is_file()


def test_a_fault_is_taken_out_again_and_needs_a_text_that_is_there_once(tmp_path: Path) -> None:
    file = tmp_path / "a.cpp"
    file.write_text("one two two")
    for place in (file, tmp_path):
        with planted(place, "one", "ten"):
            assert file.read_text() == "ten two two"
        assert file.read_text() == "one two two"
    for text in ("two", "three"):
        with pytest.raises(SystemExit, match="not once: mend"), planted(file, text, ""):
            pass
