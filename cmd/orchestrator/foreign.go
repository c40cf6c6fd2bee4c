package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"turnstile/judge/check"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/host"
)

// foreignFlags are the flags of runs whose algorithm is a foreign program.
type foreignFlags struct{ command, kinds, promises string }

// foreignNames are the names of these flags, which are those of the options of the row.
var foreignNames = []string{foreign.CommandOption, foreign.KindsOption, foreign.PromisesOption}

func (x *foreignFlags) add(f *pflag.FlagSet) {
	f.StringVar(&x.command, foreign.CommandOption, "", "`command` of a program to run instead, at "+
		"every node, as in 'python3 ra.py' (see docs/foreign.md)")
	f.StringVar(&x.kinds, foreign.KindsOption, "", "`kinds` of messages of that program, with what "+
		"they carry, as in token:token,reply:permit (default what it declares)")
	f.StringVar(&x.promises, foreign.PromisesOption, "", "`promises` of that program, as in "+
		"safe=no-loss+no-crash,fenced (default what it declares)")
}

// useForeign has the run be about a foreign program, if one is named. Unless both kinds and promises are
// given, the program is started for a moment and asked for its declaration.
func (c *benchCall) useForeign(s settings) (used bool, err error) {
	x := &c.foreign
	switch {
	case x.command == "" && (x.kinds != "" || x.promises != ""):
		return false, errors.New("--kinds and --promises are about a foreign program, and --foreign names none")
	case x.command == "":
		return false, nil
	case s.rank(foreign.CommandOption) < s.rank(c.naming):
		return false, nil
	case s.rank(foreign.CommandOption) == s.rank(c.naming):
		return false, fmt.Errorf("--foreign and --%s both say what is run: leave out one of the two", c.naming)
	}
	d, err := x.declaration(c)
	if err != nil {
		return false, fmt.Errorf("--foreign: %w", err)
	}
	elects := slices.Contains(c.problems, check.Election)
	excludes := func(k nodes.MessageKind) bool { return k.Token || k.Permit }
	switch {
	case d.Elects && !elects:
		return false, errors.New("--foreign: the program elects leaders: orchestrator elect --foreign runs it")
	case elects && !d.Elects && slices.ContainsFunc(d.Kinds, excludes):
		return false, errors.New("--foreign: the program grants locks, since it declares messages that carry a " +
			"token or a permit: orchestrator bench --foreign runs it")
	}
	d.Elects = elects
	c.Config = foreign.Config(c.Config, x.command, d)
	c.Spec, err = foreign.Row(c.Config)
	return true, err
}

// declaration returns what the flags and the program itself say of it.
func (x *foreignFlags) declaration(c *benchCall) (*foreign.Declaration, error) {
	given, err := foreign.Parse(x.kinds, x.promises)
	if err != nil || x.kinds != "" && x.promises != "" {
		return given, err
	}
	if c.Config.N < 1 {
		return nil, (&nodes.Spec{Name: foreign.Name}).Validate(c.Config)
	}
	d, err := host.Declare(x.command, c.Config.N, c.Seed)
	if err != nil {
		return nil, err
	}
	if x.kinds != "" {
		d.Kinds = given.Kinds
	}
	if x.promises != "" {
		kinds := d.Kinds
		d = given
		d.Kinds = kinds
	}
	return d, nil
}
