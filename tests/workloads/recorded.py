# SPDX-License-Identifier: Apache-2.0
"""The recorded outputs, as a workload's parser gets them."""

from dataclasses import replace
from pathlib import Path

from tare.workloads.kind import Output, Shape

OUTPUTS = Path(__file__).parent.parent / "outputs"
SHAPE = Shape(processors=2, memory_byte=1 << 30, instance=0, tools_directory="/opt/tare/bin")


def recorded(kind: str, case: str) -> Output:
    """Read ``tests/outputs/KIND/CASE``: stdout.txt and stderr.txt are the streams, all else collected files."""
    texts = {path.name: path.read_text() for path in sorted((OUTPUTS / kind / case).iterdir())}
    stdout, stderr = texts.pop("stdout.txt", ""), texts.pop("stderr.txt", "")
    return Output(stdout=stdout, stderr=stderr, files=texts)


def with_file(output: Output, name: str, text: str) -> Output:
    return replace(output, files={**output.files, name: text})
