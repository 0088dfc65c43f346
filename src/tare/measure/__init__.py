# SPDX-License-Identifier: Apache-2.0
"""One trial in, one outcome out. The only step that starts nodes and commands."""
