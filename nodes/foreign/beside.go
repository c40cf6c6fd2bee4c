package foreign

import (
	"fmt"
	"slices"
	"time"

	"turnstile/nodes"
)

// mostTimers is how many timers a program may have running.
const mostTimers = 1 << 16

// time takes a line for the timers.
func (b *bridge) time(env *nodes.Env, s *Said) {
	id := string(s.Body.ID)
	at := slices.Index(b.timers, id)
	switch {
	case id == "":
		b.fail("it wrote to %s without an id: %q", timers, s.Raw)
	case s.Type == "cancel":
		if at >= 0 {
			b.timers[at] = ""
			env.StopTimer(nodes.Timer{Kind: set, Peer: nodes.ID(at)})
		}
		b.reply(env, s, "cancel_ok", "")
	case s.Type != "set":
		b.fail("it wrote a body of type %q to %s, which takes set and cancel", s.Type, timers)
	default:
		if at < 0 {
			at = slices.Index(b.timers, "")
		}
		if at < 0 {
			at, b.timers = len(b.timers), append(b.timers, "")
		}
		least, most := s.Body.MinMS, s.Body.MinMS
		if s.Body.MaxMS != nil {
			most = *s.Body.MaxMS
		}
		const day = float64(24 * time.Hour / time.Millisecond)
		if least < 0 || most < least || most > day {
			b.fail("%w: %q", errNoTime, s.Raw)
			return
		}
		if at >= mostTimers {
			b.fail("it has set more than %d timers", mostTimers)
			return
		}
		b.timers[at] = id
		b.ever++
		env.SetTimer(nodes.Timer{Kind: set, Peer: nodes.ID(at)}, milliseconds(least), milliseconds(most))
		b.reply(env, s, "set_ok", "")
	}
}

func (b *bridge) Timers() (running int, ever int64) {
	for _, id := range b.timers {
		if id != "" {
			running++
		}
	}
	return running, b.ever
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// keep takes a line for the disk.
func (b *bridge) keep(env *nodes.Env, s *Said) {
	key := string(s.Body.Key)
	at, has := slices.BinarySearch(b.disk.Keys, key)
	switch {
	case s.Type != "forget" && key == "", s.Type == "write" && len(s.Body.Value) == 0:
		b.fail("it wrote to %s without a key, or without a value to write: %q", disk, s.Raw)
	case s.Type == "read" && !has:
		b.reply(env, s, "error", fmt.Sprintf(`,"code":%d,"text":"no such key"`, keyNotFound))
	case s.Type == "read":
		b.reply(env, s, "read_ok", `,"key":`+key+`,"value":`+b.disk.Values[at])
	case s.Type == "write":
		if !has {
			b.disk.Keys = slices.Insert(b.disk.Keys, at, key)
			b.disk.Values = slices.Insert(b.disk.Values, at, "")
		}
		b.disk.Values[at] = string(s.Body.Value)
		env.Save(b.disk)
		b.reply(env, s, "write_ok", "")
	case s.Type == "forget":
		b.disk = saved{}
		env.Save(b.disk)
		b.reply(env, s, "forget_ok", "")
	default:
		b.fail("it wrote a body of type %q to %s, which takes read, write and forget", s.Type, disk)
	}
}
