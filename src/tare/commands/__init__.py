# SPDX-License-Identifier: Apache-2.0
"""One file for each command of the command line; each imports what it needs when it runs."""
