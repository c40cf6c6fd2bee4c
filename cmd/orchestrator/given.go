package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// givenOnce refuses a command line that gives a flag of one value twice: the last would silently win.
func givenOnce(root *cobra.Command, args []string) error {
	cmd, rest, err := root.Find(args)
	if err != nil {
		return nil // cobra says what is wrong
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	cmd.LocalFlags() // this has cmd take in the flags of its parents
	values := map[string]string{}
	var twice error
	cmd.Flags().ParseAll(rest, func(f *pflag.Flag, value string) error {
		before, given := values[f.Name]
		if given && !takesList(f) && twice == nil {
			twice = fmt.Errorf("--%s is given twice, as %q and as %q%s: leave out one of the two", f.Name, before,
				value, shortFor(f))
		}
		values[f.Name] = value
		return nil
	})
	return twice
}

// shortFor says which letter stands for a flag, if one does.
func shortFor(f *pflag.Flag) string {
	if f.Shorthand == "" {
		return ""
	}
	return fmt.Sprintf(" (-%s is short for it)", f.Shorthand)
}

// noZero marks a flag of which zero would be no value: it would mean what leaving the flag out means. says is
// what such a zero would be, and what to do instead.
func noZero(f *pflag.FlagSet, name, says string) {
	f.SetAnnotation(name, noZeroKey, []string{says}) // fails only without such a flag
}

const noZeroKey = "turnstile_no_zero"

// checkZeros refuses flags that were given without a value, and zeros that are none.
func (s settings) checkZeros(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		value, says := f.Value.String(), f.Annotations[noZeroKey]
		switch {
		case err != nil || !s.given(f.Name) || f.Value.Type() == "func": // addOptions looks at those
		case value == "" || value == "[]":
			err = fmt.Errorf("%s has no value: write one, or leave it out", s[f.Name].where(f.Name))
		case says != nil && (value == "0" || value == "0s"):
			err = fmt.Errorf("%s: %s %s", s[f.Name].where(f.Name), value, says[0])
		}
	})
	return err
}
