package commands

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/pflag"

	"turnstile/bench"
	"turnstile/judge/check"
	"turnstile/option"
)

// A valueProblem is the error of a value that no run can have.
type valueProblem struct{ error }

// jobOf returns the job that bench, elect or simulate makes of the values of its flags, by name. faults are
// those of --fault.
func jobOf(k known, values map[string]string, faults []string, simulated bool) (*bench.Job, error) {
	c, command, err := callFor(k, values["algo"], simulated)
	if err != nil {
		return nil, err
	}
	c.setDefaults()
	s := settings{}
	var others *pflag.FlagSet // flags that are no options
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text := values[name]
		s[name] = source{rank: byFlag}
		switch o := option.Find(name); {
		case name == "algo":
			c.Algorithm = text
		case o != nil && o.Of != nil && !o.Elsewhere && c.mayHave(o) && !(o.Real && simulated):
			err = option.Set(&c.Options, name, text)
		case c.someTake(name):
			c.Config = c.Config.With(name, text)
		default:
			if others == nil {
				others = c.otherFlags(command)
			}
			f := others.Lookup(name)
			if f == nil {
				return nil, fmt.Errorf("%s does not take --%s", command, name)
			}
			if err = others.Set(name, text); err != nil {
				err = option.Refusal(f.Value.Type(), text, errors.Unwrap(err))
			}
		}
		if err != nil {
			return nil, valueProblem{fmt.Errorf("--%s: %w", name, err)}
		}
	}
	if others != nil {
		if err := s.checkZeros(others); err != nil {
			return nil, err
		}
	}
	c.faults.written = append(c.faults.written, faults...)
	if err := c.resolve(s); err != nil {
		return nil, err
	}
	return c.job, nil
}

// callFor returns a call that runs an algorithm, and the name of its command.
func callFor(k known, algorithm string, simulated bool) (*benchCall, string, error) {
	algo, err := k.Find(cmp.Or(algorithm, anyRuns(k).algorithm))
	if err != nil {
		return nil, "", valueProblem{fmt.Errorf("--algo: %w", err)}
	}
	if simulated {
		c := &benchCall{runCommand: anyRuns(k)}
		c.Simulated, c.Latency = true, simulatedLatency
		return c, "simulate", nil
	}
	command := check.ProblemOf(algo).Command
	return &benchCall{runCommand: realRuns(k, command)}, command, nil
}

// someTake reports whether an algorithm of the command has an option.
func (c *runCommand) someTake(name string) bool {
	return slices.ContainsFunc(c.table(), func(algo *spec) bool { return algo.Option(name) != nil })
}

// otherFlags returns the flags of runs that are no options: they ask for faults, read a file, or name
// programs and servers.
func (c *benchCall) otherFlags(command string) *pflag.FlagSet {
	f := pflag.NewFlagSet(command, pflag.ContinueOnError)
	c.faults.add(f)
	addOption(f, option.Find("regions"), &c.regions)
	if !c.Simulated {
		c.addPrograms(f)
		c.addControl(f)
	}
	return f
}
