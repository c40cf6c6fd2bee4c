package redisd

import (
	"time"

	"turnstile/bench/service"
)

// Renew is the option by which the holder extends its lock. Its values are on, [Blind] and [NoRenewal].
var Renew = service.Option{Name: "renew", Default: NoRenewal, Values: []string{"on", Blind, NoRenewal},
	Usage: "on: after each third of px the holder extends the lock, if the lock is still its own, and leaves " +
		"if this fails or comes too late; blind: the same by PEXPIRE, also if the lock is another's"}

// Values of the option Renew.
const (
	Blind     = "blind"
	NoRenewal = "off"
)

// Holds returns for how long a client may hold a lock: without an extension, within its lifetime.
func Holds(v service.Values) time.Duration {
	if v["renew"] == NoRenewal {
		return v.Duration("px")
	}
	return 0
}

// Every returns how long after the grant, or after an extension, a holder extends its lock.
func Every(v service.Values) time.Duration { return v.Duration("px") / 3 }
