# SPDX-License-Identifier: Apache-2.0
"""Reading what programs are linked with."""

import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.image.elf import Files, needed_libraries, read_linked

LOADER = "/lib64/ld-linux-x86-64.so.2"


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A root with a program that needs a library of its own in a folder that only its RUNPATH names."""
    root = tmp_path / "root"
    (root / "opt/lib").mkdir(parents=True)
    (root / "opt/bin").mkdir()
    (tmp_path / "inner.c").write_text("int inner(void) { return 0; }\n")
    (tmp_path / "main.c").write_text("int inner(void);\nint main(void) { return inner(); }\n")
    library = root / "opt/lib/libinner.so.1.2"
    _compile(tmp_path / "inner.c", "-shared", "-Wl,-soname,libinner.so.1", "-o", library)
    (root / "opt/lib/libinner.so.1").symlink_to("/opt/lib/libinner.so.1.2")
    _compile(
        tmp_path / "main.c",
        library,
        "-Wl,-rpath,$ORIGIN/../lib",
        "-Wl,--enable-new-dtags",
        "-o",
        root / "opt/bin/main",
    )
    return root


def _compile(source: Path, *words: object) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler is installed")
    subprocess.run(["cc", str(source), *map(str, words)], check=True, timeout=60)


def test_a_librarys_real_file_is_that_below_the_root_and_a_missing_library_has_none(built: Path) -> None:
    libraries = needed_libraries("/opt/bin/main", Files(built))
    assert libraries["libinner.so.1"] == "/opt/lib/libinner.so.1.2"
    assert libraries["libc.so.6"] is None


def test_library_paths_come_before_the_usual_folders(built: Path) -> None:
    (built / "usr/lib").mkdir(parents=True)
    for folder in ("vendor", "usr/lib"):
        (built / folder).mkdir(exist_ok=True)
        shutil.copy(built / "opt/lib/libinner.so.1.2", built / folder / "libc.so.6")
    assert needed_libraries("/opt/bin/main", Files(built), ["/vendor"])["libc.so.6"] == "/vendor/libc.so.6"
    assert needed_libraries("/opt/bin/main", Files(built))["libc.so.6"] == "/usr/lib/libc.so.6"


def test_bound_directories_are_the_hosts(built: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    program = str(built / "opt/bin/main")
    assert needed_libraries(program, Files(bare)) == {}
    inside = needed_libraries(program, Files(bare, (built,)))
    assert inside["libinner.so.1"] is None  # the library's link leads to the image's own /opt
    (built / "opt/lib/libinner.so.1").unlink()
    (built / "opt/lib/libinner.so.1").symlink_to("libinner.so.1.2")
    inside = needed_libraries(program, Files(bare, (built,)))
    assert inside["libinner.so.1"] == str(built / "opt/lib/libinner.so.1.2")


def test_a_library_for_another_architecture_is_passed_over(built: Path) -> None:
    library = built / "opt/lib/libinner.so.1.2"
    foreign = bytearray(library.read_bytes())
    foreign[18:20] = (183).to_bytes(2, "little")  # EM_AARCH64
    library.write_bytes(foreign)
    assert needed_libraries("/opt/bin/main", Files(built))["libinner.so.1"] is None


def test_links_that_lead_in_a_circle_or_out_of_the_root_lead_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "up").symlink_to("../../../../etc/passwd")
    files = Files(tmp_path)
    assert files.real("/a") is None
    assert files.real("/up") is None
    with files.opened("/up") as opened:
        assert opened is None


def test_this_python_needs_the_c_library_and_its_loader() -> None:
    libraries = needed_libraries(str(Path(sys.executable).resolve()), Files(Path("/")))
    assert libraries
    assert all(place is None or Path(place).is_file() for place in libraries.values())
    assert any(name.startswith(("libc.", "ld-")) for name in libraries)


def test_the_compiler_is_named_where_it_wrote_its_name(built: Path) -> None:
    linked = Files(built).linked("/opt/bin/main")
    assert linked is not None
    assert linked.interpreter == LOADER or linked.interpreter
    assert any("GCC" in compiler or "clang" in compiler for compiler in linked.compilers)


@given(st.binary(max_size=400), st.integers(0, 400))
def test_a_damaged_file_is_read_or_refused_but_never_breaks_the_reader(noise: bytes, place: int) -> None:
    with Path(sys.executable).open("rb") as opened:
        whole = opened.read(4096)
    read_linked(io.BytesIO(whole[:place] + noise + whole[place + len(noise) :]))
    assert read_linked(io.BytesIO(noise)) is None
