# SPDX-License-Identifier: Apache-2.0
"""A runner that is killed right after it has started a node."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict

from pydantic import TypeAdapter
from tests.conftest import REPOSITORY

from tare.environments import PROVIDERS
from tare.node_life import start_node
from tare.nodes.provider import NodeSpec


def start_in_a_run_that_is_killed(spec: NodeSpec) -> None:
    argv = [sys.executable, "-m", "tests.environments.dying_runner"]
    given = json.dumps(asdict(spec), default=str)
    done = subprocess.run(
        argv, input=given, capture_output=True, text=True, check=False, timeout=60, cwd=REPOSITORY
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


if __name__ == "__main__":
    wanted = TypeAdapter(NodeSpec).validate_json(sys.stdin.read())
    start_node(wanted, PROVIDERS[wanted.technology])
    os.kill(os.getpid(), signal.SIGKILL)
