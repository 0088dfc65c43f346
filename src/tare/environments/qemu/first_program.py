# SPDX-License-Identifier: Apache-2.0
"""The smallest first process of a guest: prints that it runs, and switches the machine off.

It can test KVM before there is an image. An ELF file of one segment (elf(5)) with x86-64 code that makes two system
calls (syscall(2)): write to the console, then reboot(2) with LINUX_REBOOT_CMD_POWER_OFF.
"""

import struct

WORD = b"TARE GUEST RUNS\n"

_BASE = 0x400000
_HEADERS_BYTE = 64 + 56
_WRITE, _REBOOT = 1, 169
_MAGIC, _MAGIC_2, _POWER_OFF = 0xFEE1DEAD, 672274793, 0x4321FEDC
_EXECUTABLE, _X86_64, _LOAD, _READ_AND_EXECUTE = 2, 62, 1, 5


def first_program() -> bytes:
    """The whole file."""
    code = _code()
    size = _HEADERS_BYTE + len(code)
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    entry = _BASE + _HEADERS_BYTE
    header = identity + struct.pack(
        *("<HHIQQQIHHHHHH", _EXECUTABLE, _X86_64, 1, entry, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    )
    segment = struct.pack("<IIQQQQQQ", _LOAD, _READ_AND_EXECUTE, 0, _BASE, _BASE, size, size, 0x1000)
    return header + segment + code


def _code() -> bytes:
    """write(1, WORD, its length); reboot(MAGIC, MAGIC_2, POWER_OFF); then nothing, forever."""
    off = _call(_REBOOT, _MAGIC, _MAGIC_2, _POWER_OFF) + b"\xeb\xfe"
    length = len(_call(_WRITE, 1, 0, 0))
    word = _BASE + _HEADERS_BYTE + length + len(off)
    return _call(_WRITE, 1, word, len(WORD)) + off + WORD


def _call(number: int, first: int, second: int, third: int) -> bytes:
    """Four mov instructions, to eax, edi, esi and edx; then syscall."""
    loads = zip((0xB8, 0xBF, 0xBE, 0xBA), (number, first, second, third), strict=True)
    return b"".join(struct.pack("<BI", code, value) for code, value in loads) + b"\x0f\x05"
