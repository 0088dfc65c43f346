# SPDX-License-Identifier: Apache-2.0
"""A separate program: becomes ssh, with every further word quoted for the shell at the other end.

``become_ssh.py COUNT WORD...`` keeps the first COUNT words as they are and joins the others into one, because ssh(1)
joins a command's words with spaces, and the far login shell splits them again.
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
