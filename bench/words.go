package bench

import (
	"fmt"
	"slices"
	"strings"

	"turnstile/internal/terminal"
	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
	"turnstile/nodes/foreign"
	"turnstile/option"
)

// Words returns the words, after the program, of a command that makes a run with these options under a plan,
// quoted for a shell. They lack --server-program, since no record has that path.
func Words(algo *algorithm.Algorithm, o *Options, real bool, plan string) []string {
	words := []string{"simulate"}
	if real {
		words[0] = check.ProblemOf(algo).Command
	}
	add := func(flag string, value any) {
		words = append(words, "--"+flag, terminal.ShellQuoted(fmt.Sprint(value)))
	}
	addText := func(flag, text string) {
		if text != "" {
			add(flag, text)
		}
	}
	if !foreign.Is(o.Config) {
		add("algo", algo.Name)
	}
	implied := option.Implied(Implied(o, algo))
	if foreign.Is(o.Config) {
		programWords(addText, o.Config)
	} else {
		for _, option := range algo.Options {
			if value := o.Config.Value(option); value != implied.Config.Value(option) {
				add(option.Name, value)
			}
		}
	}
	for given, value := range o.Given(&implied, real) {
		if value == "true" {
			words = append(words, "--"+given.Name)
		} else {
			add(given.Name, value)
		}
	}
	addText("plan", plan)
	return words
}

// programWords adds the flags that name a foreign program or a service with its options.
func programWords(add func(flag, text string), c nodes.Config) {
	if service := c.Options[foreign.ServiceOption]; service != "" {
		add(foreign.ServiceOption, service)
		var with []string
		for option, value := range foreign.OptionsOf(c) {
			switch option {
			case foreign.EndpointOption:
				add(option, value)
			case foreign.ServerVersionOption, foreign.ClientVersionOption: // the run finds the versions itself
			default:
				with = append(with, option+"="+value)
			}
		}
		slices.Sort(with)
		add("with", strings.Join(with, ","))
		add(foreign.PassOption, c.Options[foreign.PassOption])
		if client := c.Options[foreign.ClientOption]; client != "" {
			add(foreign.ClientOption, client)
			add(foreign.KindsOption, c.Options[foreign.KindsOption])
			add(foreign.PromisesOption, c.Options[foreign.PromisesOption])
		}
		return
	}
	for _, flag := range foreign.ProgramOptions {
		add(flag, c.Options[flag])
	}
}
