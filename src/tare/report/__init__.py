# SPDX-License-Identifier: Apache-2.0
"""An analysis in, tables and pictures out; computes nothing."""
