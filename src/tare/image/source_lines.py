# SPDX-License-Identifier: Apache-2.0
"""Lines of source by addresses in a program or library, where it holds debug data (DWARF); nothing of it is run."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare.host.own_files import open_regular
from tare.image.elf import read_elf

if TYPE_CHECKING:
    from elftools.dwarf.dwarfinfo import DWARFInfo
    from elftools.elf.elffile import ELFFile

_FIRST_FILE_FROM_0 = 5
"""From this version of DWARF on files count from 0."""


def source_lines(path: Path, build_id: str | None, addresses: Iterable[int]) -> Mapping[int, str]:
    """Address \N{RIGHTWARDS ARROW} file name and line, such as ``solve.c:12``; those that are not known are missing.

    Nothing is known of a file that is not the build of this name: its lines may have moved.
    """
    if build_id is None:
        return {}
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            return read_elf(opened, lambda elf: _lines(elf, build_id, addresses)) or {}
    except OSError:
        return {}


def _lines(elf: "ELFFile", build_id: str, addresses: Iterable[int]) -> Mapping[int, str]:
    if _build_id(elf) != build_id or not elf.has_dwarf_info():
        return {}
    dwarf = elf.get_dwarf_info()
    lines = {address: _line(dwarf, address) for address in addresses}
    return {address: line for address, line in lines.items() if line is not None}


def _build_id(elf: "ELFFile") -> str | None:
    from elftools.elf.sections import NoteSection  # noqa: PLC0415 - few commands read programs

    section = elf.get_section_by_name(".note.gnu.build-id")
    notes = section.iter_notes() if isinstance(section, NoteSection) else ()
    return next((str(note["n_desc"]) for note in notes if note["n_type"] == "NT_GNU_BUILD_ID"), None)


def _line(dwarf: "DWARFInfo", address: int) -> str | None:
    ranges = dwarf.get_aranges()
    place = None if ranges is None else ranges.cu_offset_at_addr(address)
    program = None if place is None else dwarf.line_program_for_CU(dwarf.get_CU_at(place))
    if program is None:
        return None
    before = None
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if before is not None and before.address <= address < state.address:
            return f"{_file_name(program, before.file)}:{before.line}"
        before = None if state.end_sequence else state
    return None


def _file_name(program: Any, number: int) -> str:
    first = 0 if program.header.version >= _FIRST_FILE_FROM_0 else 1
    name: bytes = program.header.file_entry[number - first].name
    return Path(name.decode(errors="replace")).name
