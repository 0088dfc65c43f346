# SPDX-License-Identifier: Apache-2.0
"""Every error that Tare raises on purpose.

    TareError                      exit code
    ├── InputError                 2   what the user wrote is wrong
    │   └── CampaignError          2   file, line and key of a campaign
    ├── HostError                  3   this host cannot do it
    │   ├── ImageError             3   the image is missing, changed or cannot be built
    │   ├── LockedError            3   another run holds the host or the result folder
    │   ├── JournalError           3   the journal cannot be written or read
    │   └── OutputError            3   standard output cannot be written
    │       └── NobodyReads      141   its reader has gone
    └── TrialError                 -   becomes a failed outcome, never an exit
        ├── NodeError              -   a node did not start, stop or keep its limits
        │   └── EndedInTurn        -   a command ended instead of answering a turn
        ├── ClockFault             -   a clock in a node is wrong: the outcome is invalid
        ├── UnequalArms            -   a node ran under other conditions than native: the outcome is invalid
        ├── WorkOutOfTurn          -   a waiting node was at work: the outcome is invalid
        └── WrongOutput            -   the workload's output is missing, cut or wrong

Each message says what happened, where, and what to do next.
"""

from collections.abc import Mapping
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit code of a command; docs/tutorial.md explains when."""

    DONE = 0
    FELL_SHORT = 1
    """A trial failed, a condition of ``--fail-if`` fell short, or a gate of a calibration did not pass."""
    WRONG_INPUT = 2
    CANNOT = 3
    """The host cannot do it, or nothing could be compared."""
    INTERRUPTED = 130
    NOBODY_READS = 141


class TareError(Exception):
    """The base class; the command line prints its text and exits with ``exit_code``."""

    exit_code = ExitCode.CANNOT


class InputError(TareError):
    """What the user wrote is wrong."""

    exit_code = ExitCode.WRONG_INPUT


class CampaignError(InputError):
    """A campaign file is wrong; the text names file, line and key."""


class HostError(TareError):
    """This host cannot do what was asked."""


class ImageError(HostError):
    """The image is missing, changed or cannot be built."""


class LockedError(HostError):
    """Another run of Tare holds this host, or the result folder."""


class JournalError(HostError):
    """The journal cannot be written or read."""


class OutputError(HostError):
    """Standard output cannot be written: it is closed, or its disk is full."""


class NobodyReads(OutputError):
    """The reader of standard output has gone, such as ``head``: Tare ends silently, like any other program."""

    exit_code = ExitCode.NOBODY_READS


class TrialError(TareError):
    """Ends one trial as failed; ``excerpt`` is a piece of output that shows the reason."""

    def __init__(self, message: str, excerpt: str | None = None) -> None:
        super().__init__(message)
        self.excerpt = excerpt


class NodeError(TrialError):
    """A node did not start, did not stop, or does not keep its limits."""


class EndedInTurn(NodeError):
    """A command ended instead of answering a turn; ``done`` is its stopwatch's report."""

    def __init__(self, message: str, done: Mapping[str, object]) -> None:
        super().__init__(message)
        self.done = done


class ClockFault(TrialError):
    """A clock in a node is wrong, so that its times cannot be used."""


class UnequalArms(TrialError):
    """The host gave a node's commands another priority, weight or limit than native ones have."""


class WorkOutOfTurn(TrialError):
    """A node that waited for its turn used processors during the turns of others."""


class WrongOutput(TrialError):
    """A workload's output is missing, cut short or fails its own check."""
