package main

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/row"
)

// addOptions adds a flag to cmd for each option that an algorithm of a table has.
func addOptions(cmd *cobra.Command, c *nodes.Config, table []*spec) {
	for _, o := range row.Options(table) {
		var rows []string
		for _, row := range table {
			if row.Option(o.Name) != nil {
				rows = append(rows, row.Name)
			}
		}
		cmd.Flags().Func(o.Name, o.String()+"; of "+strings.Join(rows, ", "), func(value string) error {
			if value == "" {
				return errors.New("it has no value: write one, or leave it out")
			}
			*c = c.With(o.Name, value)
			return nil
		})
		cmd.Flags().SetAnnotation(o.Name, groupKey, []string{optionFlags})
		cmd.RegisterFlagCompletionFunc(o.Name, completeOption(o.Name))
	}
}

// checkOptions validates the configuration c of an algorithm that was named at a level. Options that it does
// not have are dropped if they were given at a lower one, such as in a file for many runs.
func (s settings) checkOptions(row *spec, c nodes.Config, named rank) (nodes.Config, error) {
	c.Options = maps.Clone(c.Options)
	maps.DeleteFunc(c.Options, func(name, _ string) bool {
		return row.Option(name) == nil && s.rank(name) < named
	})
	if row.Units.Most <= 1 && s.rank("units") < named { // it is for other algorithms
		c.Units = 0
	}
	err := hinted(row.Validate(c))
	var fence *nodes.FenceError
	if errors.As(err, &fence) && row.Family == foreign.ServiceOption && row.Option("fence") != nil {
		fence.Option = "--with fence=on"
	}
	return c, s.blame(err, append(slices.Collect(maps.Keys(c.Options)), "nodes", "units")...)
}

// hinted adds to an error about units which algorithms serve so many, or give one request so many, and to one
// about fence numbers which hand them out.
func hinted(err error) error {
	var units *nodes.UnitsError
	if errors.As(err, &units) {
		units.Others = namesOf(rowsWith(func(one *spec) bool {
			most, take := max(1, one.Units.Most), max(1, one.Units.Take)
			return take >= units.Take && most >= max(2, units.Units)
		}))
	}
	var fence *nodes.FenceError
	if errors.As(err, &fence) {
		fence.Others = namesOf(rowsWith(func(one *spec) bool { return one.Fenced }))
	}
	return err
}
