// Package unavailable marks errors about something that cannot be reached, such as a server that does not
// answer. The command of the user may be right, but nothing was run.
package unavailable

import "errors"

// Mark returns the error marked; nil stays nil.
func Mark(err error) error {
	if err == nil {
		return nil
	}
	return failed{err}
}

// Is reports whether an error, or one that it wraps, is marked.
func Is(err error) bool { return errors.As(err, &failed{}) }

type failed struct{ error }

func (f failed) Unwrap() error { return f.error }
