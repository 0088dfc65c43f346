# SPDX-License-Identifier: Apache-2.0
"""What draws tables and pictures, and writes numbers, without knowing what they are about."""
