package commands

import (
	"context"
	"errors"
	"time"

	"turnstile/judge/check"
)

// hearing is how long a command that has made nothing may go on after the program was asked to end.
const hearing = 500 * time.Millisecond

// errInterrupted is the error of a command that was asked to end.
var errInterrupted = failure{errors.New("interrupted"), check.Inconclusive.ExitCode()}

// unlessAsked calls do. If the program is asked to end, unlessAsked returns soon, and do goes on until the
// program has ended.
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
