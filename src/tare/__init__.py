# SPDX-License-Identifier: Apache-2.0
"""Tare: what a container or a virtual machine costs a high-performance computing job."""

__version__ = "0.1.0"
