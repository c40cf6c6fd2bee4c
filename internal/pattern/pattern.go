// Package pattern compiles a regular expression when it is first used, so that a call does not compile those
// that it does not need.
package pattern

import (
	"regexp"
	"sync"
)

// Of returns a regular expression, which is compiled at its first use. If it is wrong, that use panics.
func Of(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
