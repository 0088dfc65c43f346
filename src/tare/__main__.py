# SPDX-License-Identifier: Apache-2.0
"""``python -m tare``."""

from tare.cli import main

main()
