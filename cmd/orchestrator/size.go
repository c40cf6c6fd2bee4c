package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"turnstile/results"
)

// defaultMemory returns how much memory to take on a machine: 2 GB, but no more than half of what there is.
func defaultMemory(m results.Machine) size {
	const most = 2 << 30
	if m.MemoryMB == 0 {
		return most
	}
	return size(min(most, uint64(m.MemoryMB)<<20/2))
}

// A size is a number of bytes, as people write it.
type size uint64

// sizeUnits are the units of sizes, the largest first.
var sizeUnits = []struct {
	name  string
	bytes uint64
}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}}

// String writes the size in the largest unit of which it has one.
func (s size) String() string {
	for _, u := range sizeUnits {
		if uint64(s) >= u.bytes {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(s)/float64(u.bytes)), ".0") + u.name
		}
	}
	return fmt.Sprintf("%dB", uint64(s))
}

// Set reads a size.
func (s *size) Set(text string) error {
	for _, u := range sizeUnits {
		var x float64
		number, ok := strings.CutSuffix(strings.ToUpper(text), u.name)
		if !ok {
			continue
		}
		if _, err := fmt.Sscanf(number+" ", "%g ", &x); err == nil && x > 0 && x < 1<<20 {
			*s = size(x * float64(u.bytes))
			return nil
		}
	}
	return fmt.Errorf("%q is no amount of memory: write 512MB or 4GB", text)
}

// Type names the kind of value, for --help.
func (s *size) Type() string { return "size" }

var _ pflag.Value = (*size)(nil)
