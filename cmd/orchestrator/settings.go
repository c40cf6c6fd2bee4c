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

	"turnstile/internal/suggest"
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

// settings holds the ranks of a command's flags.
type settings map[string]rank

func (s settings) rank(name string) rank { return s[name] }

// given reports whether the user set the flag anywhere.
func (s settings) given(name string) bool { return s[name] > byDefault }

// settingsOf sets the flags of cmd that the command line did not set, from the environment or else from the
// configuration file.
func settingsOf(cmd *cobra.Command) (settings, error) {
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
		if err == nil && slices.Contains(known, f.Name) {
			err = s.fill(f, v)
		}
	})
	return s, err
}

// fill sets one flag.
func (s settings) fill(f *pflag.Flag, v *viper.Viper) error {
	where := ""
	switch variable := envName(f.Name); {
	case f.Changed:
		s[f.Name] = byFlag
		return nil
	case os.Getenv(variable) != "":
		s[f.Name], where = byEnvironment, variable
	case v.InConfig(f.Name):
		s[f.Name], where = byFile, v.ConfigFileUsed()+": "+f.Name
	default:
		return nil
	}
	value := v.GetString(f.Name)
	if err := f.Value.Set(value); err != nil {
		return valueError(where, f, value, err)
	}
	return nil
}

// readConfig reads the configuration file into v, if there is one.
func readConfig(v *viper.Viper, known []string) error {
	path := cmp.Or(v.GetString("config"), defaultConfig)
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && v.GetString("config") == "" {
		return nil
	}
	var file map[string]yaml.Node
	if err == nil {
		err = yaml.Unmarshal(b, &file)
	}
	if err != nil {
		return configError(path, err)
	}
	values := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(file)) {
		node := file[name]
		where := fmt.Sprintf("%s: line %d", path, node.Line)
		switch {
		case !slices.Contains(known, name):
			return unknownSetting(where, name, known, strings.ToLower)
		case node.Kind != yaml.ScalarNode || node.Tag == "!!null":
			return fmt.Errorf("%s: %s takes one value, in quotes if need be", where, name)
		}
		values[name] = node.Value
	}
	v.SetConfigFile(path)
	return v.MergeConfigMap(values)
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
func checkEnvironment(known []string) error {
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		bare, found := strings.CutPrefix(name, envPrefix+"_")
		bare = strings.ToLower(strings.ReplaceAll(bare, "_", "-"))
		if found && value != "" && bare != "config" && (!slices.Contains(known, bare) || envName(bare) != name) {
			return unknownSetting("the environment", bare, known, envName)
		}
	}
	return nil
}

// unknownSetting is the error for a setting that no command has. spell writes a name as that place does.
func unknownSetting(where, name string, known []string, spell func(string) string) error {
	if near := suggest.Nearest(name, known); near != "" {
		return fmt.Errorf("%s: there is no setting %s: did you mean %s?", where, spell(name), spell(near))
	}
	return fmt.Errorf("%s: there is no setting %s; there are: %s", where, spell(name), strings.Join(known, ", "))
}

var envNames = strings.NewReplacer("-", "_")

// envName returns the name of the environment variable of a flag.
func envName(flag string) string { return envPrefix + "_" + strings.ToUpper(envNames.Replace(flag)) }

// knownSettings returns the names of all flags of all commands that may be set elsewhere too.
func knownSettings(root *cobra.Command) []string {
	var names []string
	for _, cmd := range root.Commands() {
		names = append(names, flagNames(cmd.LocalNonPersistentFlags())...)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		return name == "help" || name == "config" || name == "version"
	})
}
