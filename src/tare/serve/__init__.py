# SPDX-License-Identifier: Apache-2.0
"""Results in a browser: a server of this host's own pages, for whoever has its token. It changes no result."""
