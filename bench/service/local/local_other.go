//go:build !linux

package local

import "turnstile/bench/service"

// Services is empty: the locks need Linux.
var Services []*service.Service
