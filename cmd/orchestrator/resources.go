package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"turnstile/bench"
)

// A resourcesFlag is --resources: how many resources there are, or their names.
type resourcesFlag struct{ of *bench.Options }

func (r resourcesFlag) String() string {
	if r.of == nil || r.of.ResourceNames == "" {
		n := 1
		if r.of != nil {
			n = r.of.Resources
		}
		return strconv.Itoa(n)
	}
	return r.of.ResourceNames
}

func (resourcesFlag) Type() string { return "resources" }

func (r resourcesFlag) Set(text string) error {
	if n, err := strconv.Atoi(text); err == nil {
		r.of.Resources, r.of.ResourceNames = n, ""
		return nil
	}
	names := strings.Split(text, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		_, err := strconv.ParseFloat(names[i], 64)
		switch {
		case names[i] == "" || err == nil:
			return errors.New("write how many, or names with commas between, as in printer,plotter")
		case slices.Contains(names[:i], names[i]):
			return errors.New("two resources are called " + names[i] + ": name one of them otherwise")
		}
	}
	r.of.Resources, r.of.ResourceNames = len(names), strings.Join(names, ",")
	return nil
}
