package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"turnstile/internal/suggest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.yaml.in/yaml/v3"
)

// defaultConfig is the configuration file that is read if it is there.
const defaultConfig = "turnstile.yaml"

const envPrefix = "TURNSTILE"

// A rank is where the value of a flag is from. A higher one counts.
type rank int

const (
	byDefault rank = iota
	byFile
	byEnvironment
	byFlag
)

// settings knows where the values of a command's flags are from.
type settings struct {
	flags *pflag.FlagSet
	ranks map[string]rank
}

func (s *settings) rank(name string) rank { return s.ranks[name] }

// given reports whether the user said anything about the flag name, anywhere.
func (s *settings) given(name string) bool { return s.ranks[name] > byDefault }

// settle gives the flags of cmd that the command line left open their values, from the environment and
// then from the configuration file.
func settle(cmd *cobra.Command) (*settings, error) {
	s := &settings{flags: cmd.Flags(), ranks: map[string]rank{}}
	known := knownSettings(cmd.Root())
	if err := checkEnvironment(known); err != nil {
		return nil, err
	}
	file, err := readConfig(cmd, known)
	if err != nil {
		return nil, err
	}
	s.flags.VisitAll(func(f *pflag.Flag) {
		if err == nil && slices.Contains(known, f.Name) {
			err = s.fill(f, file)
		}
	})
	return s, err
}

// fill gives one flag its value.
func (s *settings) fill(f *pflag.Flag, file *viper.Viper) error {
	where, value := "", ""
	switch variable := envName(f.Name); {
	case f.Changed:
		s.ranks[f.Name] = byFlag
		return nil
	case os.Getenv(variable) != "":
		s.ranks[f.Name] = byEnvironment
		where, value = variable, os.Getenv(variable)
	case file.InConfig(f.Name):
		s.ranks[f.Name] = byFile
		where = fmt.Sprintf("%s: %s", file.ConfigFileUsed(), f.Name)
		switch v := file.Get(f.Name).(type) {
		case string, bool, int, int64, uint64, float64:
			value = fmt.Sprint(v)
		default:
			return fmt.Errorf("%s: write one value, in quotes if need be", where)
		}
	default:
		return nil
	}
	if err := f.Value.Set(value); err != nil {
		return valueError(where, f, value, err)
	}
	return nil
}

// readConfig reads the configuration file, if there is one.
func readConfig(cmd *cobra.Command, known []string) (*viper.Viper, error) {
	v := viper.New()
	v.SetConfigType("yaml")
	path, _ := cmd.Flags().GetString("config")
	if path == "" {
		path = os.Getenv(envName("config"))
	}
	if path == "" {
		if _, err := os.Stat(defaultConfig); err != nil {
			return v, nil
		}
		path = defaultConfig
	}
	v.SetConfigFile(path)
	if err := v.ReadInConfig(); err != nil {
		return nil, configError(path, err)
	}
	keys := v.AllKeys()
	slices.Sort(keys)
	for _, key := range keys {
		name, _, nested := strings.Cut(key, ".")
		switch {
		case !slices.Contains(known, name):
			return nil, unknownSetting(path, name, known, func(s string) string { return s })
		case nested:
			return nil, fmt.Errorf("%s: %s takes one value, and nothing below it", path, name)
		}
	}
	return v, nil
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

// checkEnvironment finds variables that look like settings and are none.
func checkEnvironment(known []string) error {
	variables := []string{envName("config")}
	for _, name := range known {
		variables = append(variables, envName(name))
	}
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		if value != "" && strings.HasPrefix(name, envPrefix+"_") && !slices.Contains(variables, name) {
			bare := strings.ToLower(strings.TrimPrefix(name, envPrefix+"_"))
			return unknownSetting("the environment", bare, known, envName)
		}
	}
	return nil
}

// unknownSetting is the error for a setting that no command has. spell says how one is written there.
func unknownSetting(where, name string, known []string, spell func(string) string) error {
	if near := suggest.Nearest(name, known); near != "" {
		return fmt.Errorf("%s: there is no setting %s: did you mean %s?", where, spell(name), spell(near))
	}
	return fmt.Errorf("%s: there is no setting %s; there are: %s", where, spell(name), strings.Join(known, ", "))
}

func envName(flag string) string {
	return envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

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
