// Package pattern has regular expressions that are compiled when they are first used. Compiling those of all
// packages at each start took a sixth of the shortest call.
package pattern

import (
	"regexp"
	"sync"
)

// Of returns a regular expression, which is compiled at its first use. If it is wrong, that use panics.
func Of(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
