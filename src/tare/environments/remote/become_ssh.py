# SPDX-License-Identifier: Apache-2.0
"""A program of its own: becomes ssh, with every further word quoted for the shell that waits at the other end.

``become_ssh.py COUNT WORD...`` takes the first COUNT words as they are and makes the others one, because ssh(1) joins a
command's words with spaces, and the far login shell takes them apart again.
"""

import os
import shlex
import sys


def quoted(count: int, words: list[str]) -> list[str]:
    """The argv to become."""
    return [*words[:count], shlex.join(words[count:])]


if __name__ == "__main__":
    argv = quoted(int(sys.argv[1]), sys.argv[2:])
    os.execvp(argv[0], argv)  # noqa: S606 - there is no shell on this side
