package commands

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
	"turnstile/internal/pattern"
	"turnstile/internal/suggest"
	"turnstile/internal/yamlfile"
	"turnstile/nodes/foreign"
)

// defaultConfig is the configuration file that is read if it is there.
const defaultConfig = "turnstile.yaml"

// programSettings are the flags that say which programs are started, and with what. The default configuration
// file sets none, since a working directory may come from anybody.
var programSettings = []string{foreign.CommandOption, foreign.ClientOption, foreign.PassOption,
	"node-program", "server-program"}

const envPrefix = "TURNSTILE"

// A rank is where the value of a flag comes from. The higher rank wins.
type rank int

const (
	byDefault rank = iota
	byFile
	byEnvironment
	byFlag
)

// settings has the source of the value of each flag, by the name of the flag.
type settings map[string]source

// A source is where the value of a flag comes from.
type source struct {
	rank
	place string // the file, or the variable of the environment
}

// where names the place that set a flag, for an error: --name, FILE: name, or the variable.
func (s source) where(name string) string {
	switch s.rank {
	case byEnvironment:
		return s.place
	case byFile:
		return s.place + ": " + name
	}
	return "--" + name
}

// keep stores settings for later. Like a Command.Check that finds nothing wrong, it returns nil.
func (s *settings) keep(of settings) error {
	*s = of
	return nil
}

func (s settings) rank(name string) rank { return s[name].rank }

// given reports whether the user set the flag anywhere, and typed whether on the command line.
func (s settings) given(name string) bool { return s.rank(name) > byDefault }
func (s settings) typed(name string) bool { return s.rank(name) == byFlag }

// below reports whether a flag is set in a lower place than another, or nowhere. Then it is for other runs.
func (s settings) below(name, other string) bool { return s.rank(name) < s.rank(other) }

// settingsOf sets the flags of cmd that the command line did not set, from the environment or else from the
// configuration file.
func settingsOf(cmd *cobra.Command) (settings, error) {
	if ctx := cmd.Context(); ctx != nil && ctx.Value(alone{}) != nil {
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
	v.BindPFlags(cmd.Flags()) // fails only if the flag set is nil
	if err := readConfig(v, known); err != nil {
		return nil, err
	}
	s := settings{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { s.find(f, v) })
	s.yield()
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if err == nil && s.given(f.Name) && !s.typed(f.Name) {
			err = s.fill(f, v)
		}
	})
	if err == nil {
		err = s.checkZeros(cmd.Flags())
	}
	return s, err
}

// alone is a key of contexts. In a context that has it, only the command line sets flags, not the environment
// or a file, so that a call is the same everywhere.
type alone struct{}

// find notes where the value of a flag comes from.
func (s settings) find(f *pflag.Flag, v *viper.Viper) {
	switch variable := variableFor(f.Name); {
	case f.Changed:
		s[f.Name] = source{rank: byFlag}
	case !isSetting(f):
	case os.Getenv(variable) != "":
		s[f.Name] = source{byEnvironment, variable}
	case v.InConfig(f.Name):
		s[f.Name] = source{byFile, v.ConfigFileUsed()}
	}
}

// instead maps flags to others that take their place. What a file or variable says of a flag is for other
// calls if a higher place sets one of the others.
var instead = map[string][]string{
	"duration": {"entries"}, "warmup": {"entries"}, "entries": {"duration"},
	"latency": {"regions"}, "regions": {"latency"},
	"algo":                {foreign.ServiceOption, foreign.CommandOption},
	foreign.ServiceOption: notServices, "with": notServices, foreign.EndpointOption: notServices,
	"secrets": notServices, "server-program": notServices, foreign.ClientOption: notServices,
	foreign.CommandOption: notForeign, foreign.KindsOption: {"algo"}, foreign.PromisesOption: {"algo"},
	foreign.PassOption: {"algo"},
	"json":             {"csv", "markdown", "benchstat"},
	"csv":              {"json"}, "markdown": {"json"}, "benchstat": {"json"},
}

var (
	notServices = []string{"algo", foreign.CommandOption}
	notForeign  = []string{"algo", foreign.ServiceOption}
)

// yield drops the flags in whose place another flag of a higher place stands.
func (s settings) yield() {
	of := maps.Clone(s)
	maps.DeleteFunc(s, func(name string, _ source) bool {
		return slices.ContainsFunc(instead[name], func(other string) bool { return of.below(name, other) })
	})
}

// fill sets a flag that the environment or the file gives.
func (s settings) fill(f *pflag.Flag, v *viper.Viper) error {
	value, values := v.GetString(f.Name), v.GetStringSlice(f.Name)
	if s.rank(f.Name) == byEnvironment {
		value = os.Getenv(s[f.Name].place)
		values = strings.Fields(value)
		if f.Value.Type() == "stringSlice" { // commas separate its values, as in a flag
			values = strings.Fields(strings.ReplaceAll(value, ",", " "))
		}
	}
	if list, several := f.Value.(pflag.SliceValue); several {
		return list.Replace(values)
	}
	if err := f.Value.Set(value); err != nil {
		return valueError(s[f.Name].where(f.Name), f, value, err)
	}
	return nil
}

// blame adds to an error the flags that the environment or a file has set. names are the flags that the error
// is about; without names, it is about all flags.
func (s settings) blame(err error, names ...string) error {
	if elsewhere := s.elsewhere(names...); err != nil && elsewhere != "" {
		return fmt.Errorf("%w (%s)", err, elsewhere)
	}
	return err
}

// elsewhere lists the flags that the environment or a file has set; with names, only flags of these names.
// Empty: the command line set them all.
func (s settings) elsewhere(names ...string) string {
	set := map[string][]string{} // names of flags, by the place that set them
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
		node, flag := file[name], oneName(name)
		where := fmt.Sprintf("%s: line %d", path, node.Line)
		switch {
		case known[flag] == nil:
			return unknownSetting(where, name, name, known, strings.ToLower)
		case slices.Contains(programSettings, flag) && v.GetString("config") == "":
			return fmt.Errorf("%s: %s is about programs: set it by --%s, by %s, or in a file that --config names",
				where, name, flag, envName(flag))
		case values[flag] != nil:
			return fmt.Errorf("%s: %s is also there by another name: leave out one of the two", where, name)
		case takesList(known[flag]) && isList(&node):
			list := []string{}
			for _, item := range node.Content {
				list = append(list, item.Value)
			}
			values[flag] = list
		case takesList(known[flag]) && !isValue(&node):
			return fmt.Errorf("%s: %s takes a value or a list of values, in quotes if need be", where, name)
		case !isValue(&node):
			return fmt.Errorf("%s: %s takes one value, in quotes if need be", where, name)
		default:
			values[flag] = node.Value
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

// configError is the error for a configuration file that cannot be read, without the types of Go that YAML
// errors have.
func configError(path string, err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("reading the configuration %s: %w", path, err)
	}
	line, what, _ := strings.Cut(wrong.Errors[0], ": ")
	if strings.HasPrefix(what, "cannot unmarshal") {
		what = "this is not a setting: write a name and a value, as in nodes: 16"
	}
	return fmt.Errorf("%s: %s: %s", path, line, what)
}

// checkEnvironment returns an error for a variable with envPrefix that sets no flag, or sets a flag a second
// time.
func checkEnvironment(known knownFlags) error {
	given := map[string]bool{}
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		rest, found := strings.CutPrefix(name, envPrefix+"_")
		if !found || value == "" || name == envName("config") {
			continue
		}
		bare := strings.ToLower(strings.ReplaceAll(rest, "_", "-"))
		flag := oneName(bare)
		switch {
		case known[flag] == nil || envName(bare) != name:
			return unknownSetting("the environment", name, bare, known, envName)
		case given[flag]:
			return fmt.Errorf("the environment: %s is also there by another name: leave out one of the two", name)
		}
		given[flag] = true
	}
	return nil
}

// unknownSetting returns the error for a setting that no command has. name is the setting as it was written,
// and bare is the same name in the style of flags. The function spell writes a flag in the style of name.
func unknownSetting(where, name, bare string, known knownFlags, spell func(string) string) error {
	names := slices.Sorted(maps.Keys(known))
	if near := suggest.Nearest(bare, names); near != "" {
		return fmt.Errorf("%s: there is no setting %s: did you mean %s?", where, name, spell(near))
	}
	return fmt.Errorf("%s: there is no setting %s: settings are named as flags are; see bench --help-all",
		where, name)
}

var envNames = strings.NewReplacer("-", "_")

// envName returns the name of the environment variable of a flag.
func envName(flag string) string { return envPrefix + "_" + strings.ToUpper(envNames.Replace(flag)) }

// otherNames maps aliases of flags to their names.
var otherNames = map[string]string{"n": "nodes", "scheme": "algo"}

// oneName returns the name of the flag that a name or alias stands for.
func oneName(name string) string { return cmp.Or(otherNames[name], name) }

// oneFlag does what oneName does, for pflag, so that a flag can be given by its aliases.
func oneFlag(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(oneName(name))
}

// variableFor returns the environment variable that sets a flag: the variable of its alias if that is set,
// else the variable of its name.
func variableFor(flag string) string {
	for other, name := range otherNames {
		if name == flag && os.Getenv(envName(other)) != "" {
			return envName(other)
		}
	}
	return envName(flag)
}

// knownFlags are the flags that a file or a variable may set, by name.
type knownFlags map[string]*pflag.Flag

// knownSettings returns the settings of all commands below root.
func knownSettings(root *cobra.Command) knownFlags {
	known := knownFlags{}
	for _, cmd := range allBelow(root) {
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if isSetting(f) {
				known[f.Name] = f
			}
		})
	}
	return known
}

// forOneCall marks flags that only the command line may set, not a file or a variable.
func forOneCall(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		cmd.Flags().SetAnnotation(name, forOneCallKey, nil) // fails only if there is no such flag
	}
}

const forOneCallKey = "turnstile_for_one_call"

// isSetting reports whether a file or a variable may set a flag.
func isSetting(f *pflag.Flag) bool {
	_, once := f.Annotations[forOneCallKey]
	return !once && !f.Hidden && !slices.Contains([]string{"help", "config", "version"}, f.Name)
}

// A once is the value of a flag that refuses a second value. Otherwise the last would win silently.
type once struct {
	pflag.Value
	flag  *pflag.Flag
	given string
}

// A givenTwice is the error of a second value.
type givenTwice struct{ error }

// oneValueEach makes all flags refuse a second value, except the flags that take a list.
func oneValueEach(f *pflag.FlagSet) {
	f.VisitAll(func(f *pflag.Flag) {
		if takesList(f) {
			return
		}
		if f.DefValue == "0s" && f.Value.Type() == "duration" { // otherwise the help would show 0s as the default
			f.DefValue = ""
		}
		f.Value = &once{Value: f.Value, flag: f}
	})
}

// Set implements pflag.Value.
func (o *once) Set(text string) error {
	if o.flag.Changed {
		return givenTwice{fmt.Errorf("--%s is given twice, as %q and as %q%s: leave out one of the two",
			o.flag.Name, o.given, text, shortFor(o.flag))}
	}
	o.given = text
	return o.Value.Set(text)
}

// shortFor returns a text about the letter that is short for a flag; empty: there is no such letter.
func shortFor(f *pflag.Flag) string {
	if f.Shorthand == "" {
		return ""
	}
	return fmt.Sprintf(" (-%s is short for it)", f.Shorthand)
}

// noZero makes a flag refuse 0, which would mean the same as leaving it out. says is the end of the
// error: what 0 would mean, and what to write instead.
func noZero(f *pflag.FlagSet, name, says string) {
	f.SetAnnotation(name, noZeroKey, []string{says}) // fails only if there is no such flag
}

const noZeroKey = "turnstile_no_zero"

// checkZeros returns an error for a flag with an empty value, or with a 0 that noZero refuses.
func (s settings) checkZeros(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		value, says := f.Value.String(), f.Annotations[noZeroKey]
		switch {
		case err != nil || !s.given(f.Name) || f.Value.Type() == "func": // addAlgorithmOptions checks these
		case value == "" || value == "[]":
			err = fmt.Errorf("%s has no value: write one, or leave it out", s[f.Name].where(f.Name))
		case says != nil && (value == "0" || value == "0s"):
			err = fmt.Errorf("%s: %s %s", s[f.Name].where(f.Name), value, says[0])
		}
	})
	return err
}

// variable matches a flag written as a variable of make: THINK=1ms is --think=1ms.
var variable = pattern.Of(`(?s)^([A-Z][A-Z0-9_]*)=(.*)$`)

// variablesToFlags replaces the variables after the name of a command by flags. It stops at the first word
// that is not a variable, since later words may be values of flags.
func variablesToFlags(root *cobra.Command, args []string) ([]string, error) {
	cmd, rest, err := root.Find(args)
	words := len(strings.Fields(cmd.CommandPath())) - 1                 // words in the command's name
	if err != nil || cmd == root || !slices.Equal(args[words:], rest) { // there are flags before the name
		return args, nil // cobra returns the error
	}
	flags := slices.Clone(args[:words])
	for i, word := range rest {
		v := variable().FindStringSubmatch(word)
		if v == nil {
			return append(flags, rest[i:]...), nil
		}
		name := strings.ToLower(strings.ReplaceAll(v[1], "_", "-"))
		f := flagOf(cmd, name)
		switch {
		case f == nil:
			return nil, fmt.Errorf("%s takes no variable %s%s", nameOf(cmd), v[1], variableHint(cmd, name, v[2]))
		case v[2] == "": // with an empty value, the flag would keep its default without notice
			return nil, fmt.Errorf("%s has no value: write one behind %[1]s=, or leave it out", v[1])
		}
		flags = append(flags, fmt.Sprintf("--%s=%s", f.Name, v[2]))
	}
	return flags, nil
}

// flagOf returns the flag of a command by its name or letter; nil: no such flag.
func flagOf(cmd *cobra.Command, name string) *pflag.Flag {
	if f := cmd.Flags().Lookup(name); f != nil {
		return f
	}
	if len(name) == 1 {
		return cmd.Flags().ShorthandLookup(name)
	}
	return cmd.InheritedFlags().Lookup(name)
}

// variableOf returns the variable that stands for a flag.
func variableOf(flag string) string { return strings.ToUpper(strings.ReplaceAll(flag, "-", "_")) }

// variableHint suggests the variable that was meant, or names the commands that take this variable.
func variableHint(cmd *cobra.Command, name, value string) string {
	switch {
	case name == "name" && strings.Contains(cmd.Use, " [NAME"):
		return fmt.Sprintf(": did you mean ARGS=%s?", value)
	case strings.Trim(name, "n") == "" && len(name) > 1 && flagOf(cmd, "n") != nil:
		return ": did you mean N?"
	}
	long := name
	if name == "n" {
		long = "nodes"
	}
	if takers := commandsWith(cmd.Root(), long); len(takers) > 0 {
		return "; these do: " + strings.Join(takers, ", ")
	}
	if near := suggest.Nearest(name, append(flagNames(cmd.Flags()), "n")); near != "" {
		return ": did you mean " + variableOf(near) + "?"
	}
	return fmt.Sprintf("; see %s --help: each flag is the variable of its name", cmd.CommandPath())
}
