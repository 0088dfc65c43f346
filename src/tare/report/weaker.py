# SPDX-License-Identifier: Apache-2.0
"""What holds less firmly in an ordinary user's nodes than in root's, from the facts that the outcomes recorded."""

from collections.abc import Iterable

from tare.records import Outcome

HEADING = "Measured without root. What is weaker than in root's nodes:"
_SENTENCES = {
    ("CPU set", "by affinity"): (
        "Processors are kept by affinity, which a program can widen; it is checked before the command starts"
    ),
    ("memory limit", "per process (RLIMIT_DATA)"): (
        "The memory limit is one of each process on its own: several together may hold more, an allocation beyond it "
        "fails where root's node would lose a process, and what is stored in /dev/shm or in files does not count"
    ),
    ("CPU time", "by rusage"): (
        "CPU time is that of the command and of the children it waited for, not of everything in the node"
    ),
    ("process limit", "by RLIMIT_NPROC"): (
        "The number of processes is kept by RLIMIT_NPROC, which before Linux 5.14 counts all that this user runs"
    ),
    ("layer", "fuse-overlayfs"): (
        "The writable layer is a program's (fuse-overlayfs), so that every access to a file costs more than it "
        "does where the kernel has one"
    ),
    ("root files", "squashfuse"): (
        "The image's files are a SIF's, which a program serves (squashfuse): a file that is opened, or read for the "
        "first time, costs more than where the kernel reads it"
    ),
}
"""Label of a fact and words in its value → what they mean."""


def weaker(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """A sentence for each thing, with the environments where it is so unless it is so in all; empty for root's."""
    facts = [(outcome.trial.environment.name, outcome.facts) for outcome in outcomes if outcome.facts]
    everywhere = {name for name, _ in facts}
    sentences = []
    for (label, words), sentence in _SENTENCES.items():
        names = {name for name, environment_facts in facts if words in environment_facts.get(label, "")}
        where = "" if names == everywhere else f" ({', '.join(sorted(names))})"
        if names:
            sentences.append(f"{sentence}{where}.")
    return tuple(sentences)
