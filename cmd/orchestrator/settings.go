package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"

	"turnstile/internal/input"
	"turnstile/internal/suggest"
	"turnstile/internal/yamlfile"
)

// defaultConfig is the configuration file that is read if it is there.
const defaultConfig = "turnstile.yaml"

const envPrefix = "TURNSTILE"

// A rank is where the value of a flag comes from. Of two, the higher one counts.
type rank int

const (
	byDefault rank = iota
	byFile
	byEnvironment
	byFlag
)

// settings says where the flags of a command have their values from.
type settings map[string]source

// A source is where the value of a flag comes from.
type source struct {
	rank
	place string // the file, or the variable of the environment
}

// where says where the value of the flag of that name is from.
func (s source) where(name string) string {
	switch s.rank {
	case byEnvironment:
		return s.place
	case byFile:
		return s.place + ": " + name
	}
	return "--" + name
}

func (s settings) rank(name string) rank { return s[name].rank }

// given reports whether the user set the flag anywhere.
func (s settings) given(name string) bool { return s.rank(name) > byDefault }

// settingsOf sets the flags of cmd that the command line did not set, from the environment or else from the
// configuration file.
func settingsOf(cmd *cobra.Command) (settings, error) {
	if ctx := cmd.Context(); ctx != nil && ctx.Value(alone{}) != nil { // sweep reads a command that never runs
		s := settings{}
		cmd.Flags().Visit(func(f *pflag.Flag) { s[f.Name] = source{rank: byFlag} })
		return s, s.checkZeros(cmd.Flags())
	}
	known := knownSettings(cmd.Root())
	if err := checkEnvironment(known); err != nil {
		return nil, err
	}
	v := viper.New()
	v.SetEnvPrefix(envPrefix)
	v.SetEnvKeyReplacer(envNames)
	v.AutomaticEnv()
	v.BindPFlags(cmd.Flags()) // fails only without flags
	if err := readConfig(v, known); err != nil {
		return nil, err
	}
	s := settings{}
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if err == nil {
			err = s.fill(f, v)
		}
	})
	if err == nil {
		err = s.checkZeros(cmd.Flags())
	}
	return s, err
}

// alone is a key of contexts: in one that has it, the command line alone sets flags, and neither the
// environment nor a file does. A call that is to be the same everywhere is made in one.
type alone struct{}

// settle sets the flags of cmd, and has what they imply worked out.
func settle(cmd *cobra.Command, resolve func(settings) error) (settings, error) {
	s, err := settingsOf(cmd)
	if err == nil {
		err = resolve(s)
	}
	return s, err
}

// fill sets one flag.
func (s settings) fill(f *pflag.Flag, v *viper.Viper) error {
	switch variable := envName(f.Name); {
	case f.Changed:
		s[f.Name] = source{rank: byFlag}
		return nil
	case !isSetting(f):
		return nil
	case os.Getenv(variable) != "":
		s[f.Name] = source{byEnvironment, variable}
	case v.InConfig(f.Name):
		s[f.Name] = source{byFile, v.ConfigFileUsed()}
	default:
		return nil
	}
	if list, several := f.Value.(pflag.SliceValue); several {
		return list.Replace(v.GetStringSlice(f.Name))
	}
	value := v.GetString(f.Name)
	if err := f.Value.Set(value); err != nil {
		return valueError(s[f.Name].where(f.Name), f, value, err)
	}
	return nil
}

// blame adds to an error about the values of flags, of all if no names are given, which of them the user did
// not write on the command line.
func (s settings) blame(err error, names ...string) error {
	if elsewhere := s.elsewhere(names...); err != nil && elsewhere != "" {
		return fmt.Errorf("%w (%s)", err, elsewhere)
	}
	return err
}

// elsewhere says which of some flags, of all if no names are given, the user set elsewhere than on the
// command line; nothing if there are none.
func (s settings) elsewhere(names ...string) string {
	set := map[string][]string{} // by place
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		if from := s[name]; from.rank == byFile || from.rank == byEnvironment {
			set[from.place] = append(set[from.place], name)
		}
	}
	var says []string
	for _, place := range slices.Sorted(maps.Keys(set)) {
		says = append(says, place+" sets "+strings.Join(set[place], ", "))
	}
	return strings.Join(says, "; ")
}

// note says on standard error which flags have values that the user did not write on the command line, since
// these may be meant for another command.
func (a *app) note(s settings) {
	if elsewhere := s.elsewhere(); elsewhere != "" {
		fmt.Fprintf(a.stderr, "orchestrator: %s\n", elsewhere)
	}
}

// either lets one of two switches be on: that of the higher rank.
func (s settings) either(cmd *cobra.Command, one, other string) error {
	a, b := cmd.Flags().Lookup(one), cmd.Flags().Lookup(other)
	switch {
	case a.Value.String() != "true" || b.Value.String() != "true":
		return nil
	case s.rank(one) > s.rank(other):
		return b.Value.Set("false")
	case s.rank(one) < s.rank(other):
		return a.Value.Set("false")
	}
	return fmt.Errorf("--%s and --%s ask for different outputs: leave out one of the two", one, other)
}

// readConfig reads the configuration file into v, if there is one.
func readConfig(v *viper.Viper, known knownFlags) error {
	path := cmp.Or(v.GetString("config"), defaultConfig)
	b, err := input.Read(path)
	path = input.Name(path)
	if errors.Is(err, os.ErrNotExist) && v.GetString("config") == "" {
		return nil
	}
	var file map[string]yaml.Node
	if err == nil {
		if err = yaml.Unmarshal(b, &file); err != nil {
			err = cmp.Or(yamlfile.TabError(b), err)
		}
	}
	if err != nil {
		return configError(path, err)
	}
	values := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(file)) {
		node := file[name]
		where := fmt.Sprintf("%s: line %d", path, node.Line)
		switch {
		case known[name] == nil:
			return unknownSetting(where, name, name, known, strings.ToLower)
		case takesList(known[name]) && isList(&node):
			list := []string{}
			for _, item := range node.Content {
				list = append(list, item.Value)
			}
			values[name] = list
		case takesList(known[name]) && !isValue(&node):
			return fmt.Errorf("%s: %s takes a value or a list of values, in quotes if need be", where, name)
		case !isValue(&node):
			return fmt.Errorf("%s: %s takes one value, in quotes if need be", where, name)
		default:
			values[name] = node.Value
		}
	}
	v.SetConfigFile(path)
	return v.MergeConfigMap(values)
}

// isValue reports whether a node of YAML is one value.
func isValue(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag != "!!null" }

// isList reports whether a node of YAML is a list of values.
func isList(n *yaml.Node) bool {
	return n.Kind == yaml.SequenceNode &&
		!slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return !isValue(item) })
}

// takesList reports whether a flag may be given several times.
func takesList(f *pflag.Flag) bool {
	_, several := f.Value.(pflag.SliceValue)
	return several
}

// configError says what is wrong with a configuration file that cannot be read as settings.
func configError(path string, err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("reading the configuration %s: %w", path, err)
	}
	line, what, _ := strings.Cut(wrong.Errors[0], ": ")
	if strings.HasPrefix(what, "cannot unmarshal") { // what follows are types of Go
		what = "this is no setting: write a name and a value, as in nodes: 16"
	}
	return fmt.Errorf("%s: %s: %s", path, line, what)
}

// checkEnvironment refuses variables with the prefix of settings that are none.
func checkEnvironment(known knownFlags) error {
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		rest, found := strings.CutPrefix(name, envPrefix+"_")
		if !found || value == "" || name == envName("config") {
			continue
		}
		bare := strings.ToLower(strings.ReplaceAll(rest, "_", "-"))
		if known[bare] == nil || envName(bare) != name {
			return unknownSetting("the environment", name, bare, known, envName)
		}
	}
	return nil
}

// unknownSetting is the error for a setting that no command has, written as name; as a flag it would be bare.
// spell writes the name of a flag as that place does.
func unknownSetting(where, name, bare string, known knownFlags, spell func(string) string) error {
	names := slices.Sorted(maps.Keys(known))
	if near := suggest.Nearest(bare, names); near != "" {
		return fmt.Errorf("%s: there is no setting %s: did you mean %s?", where, name, spell(near))
	}
	return fmt.Errorf("%s: there is no setting %s: they are named as flags are; see bench --help", where, name)
}

var envNames = strings.NewReplacer("-", "_")

// envName returns the name of the environment variable of a flag.
func envName(flag string) string { return envPrefix + "_" + strings.ToUpper(envNames.Replace(flag)) }

// knownFlags are the flags that may be set elsewhere than on the command line, by name.
type knownFlags map[string]*pflag.Flag

// knownSettings returns those flags of all commands.
func knownSettings(root *cobra.Command) knownFlags {
	known := knownFlags{}
	for _, cmd := range root.Commands() {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if isSetting(f) {
				known[f.Name] = f
			}
		})
	}
	return known
}

// forOneCall marks flags that are about one call of a command alone, so that no file and no variable sets
// them.
func forOneCall(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		cmd.Flags().SetAnnotation(name, forOneCallKey, nil) // fails only without such a flag
	}
}

const forOneCallKey = "turnstile_for_one_call"

// isSetting reports whether a flag may be set elsewhere than on the command line.
func isSetting(f *pflag.Flag) bool {
	_, once := f.Annotations[forOneCallKey]
	return !once && !f.Hidden && !slices.Contains([]string{"help", "config", "version"}, f.Name)
}
