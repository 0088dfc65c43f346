# SPDX-License-Identifier: Apache-2.0
"""Code that several technologies share: the container engines Docker and Podman, and the OCI runtimes."""
