package commands

import (
	"context"
	"errors"
	"time"

	"turnstile/judge/check"
)

// hearing is how long a command may take after the program was asked to end, unless it ends what it made.
const hearing = 500 * time.Millisecond

// errInterrupted is the error of a command that was asked to end.
var errInterrupted = failure{errors.New("interrupted"), check.Inconclusive.ExitCode()}

// unlessAsked does something, and no longer waits for it once the program is asked to end: the program then
// ends with it.
func unlessAsked(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(hearing):
		return errInterrupted
	}
}
