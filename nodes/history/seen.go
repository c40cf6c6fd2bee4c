package history

import (
	"fmt"
	"os"
)

// LastSeen returns the latest time in the log at path, whose writer has ended: of an event, or of a message
// in its trace.
func LastSeen(path string) (at int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("looking at a log: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, fmt.Errorf("looking at a log: %w", err)
	}
	l, err := newLogReader(path, info.Size(), file, pageLen)
	for more := err == nil; more && err == nil; {
		if more, err = l.next(); more {
			at = l.event.At
		}
	}
	if err != nil {
		return 0, fmt.Errorf("looking at a log: %w", err)
	}
	for _, m := range l.Trace {
		at = max(at, m.At)
	}
	return at, nil
}
