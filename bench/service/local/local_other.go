//go:build !linux

package local

import "turnstile/bench/service"

// Services is empty.
var Services []*service.Service
