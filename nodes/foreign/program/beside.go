package program

import "time"

// SetTimer has the line timer come back with this id after a time that is drawn from between two. A timer of
// the same id that runs is set anew.
func (c *Conn) SetTimer(id string, least, most time.Duration) {
	c.Say(Timer, map[string]any{"type": "set", "id": id, "min_ms": milliseconds(least),
		"max_ms": milliseconds(most)})
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Store keeps a value, which JSON encodes, under a key: what is stored before a message is sent is kept
// before it is sent, and survives a kill.
func (c *Conn) Store(key string, value any) {
	c.Say(Disk, map[string]any{"type": "write", "key": key, "value": value})
}

// Load asks for the value of a key. The answer is a line from [Disk] of the type read_ok, with the value in
// its body, or of the type error if there is none. It comes once the run has begun.
func (c *Conn) Load(key string) {
	c.Say(Disk, map[string]any{"type": "read", "key": key, "msg_id": 1})
}
