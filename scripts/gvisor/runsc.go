// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package runsc names what is built, so that `go mod tidy` keeps what it needs.
package runsc

import _ "gvisor.dev/gvisor/runsc"
