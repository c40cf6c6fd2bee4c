package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"turnstile/bench/access"
	"turnstile/internal/terminal"
)

const keysHelp = `Make the key of a lab in the folder DIR, for a control plane and its hosts on several
machines. The folder gets two files:

  lab.key      the key of the lab, for each host and each user (--key): whoever has it may order all hosts
  control.key  the private key of the control plane, which stays there (orchestrator control --keys DIR)

Both are secrets: copy them as you copy a private key of ssh. No call replaces a key. To shut somebody
out, make another key in another folder, and serve with that.`

func (a *app) keysCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "keys DIR",
		Short:   "Make the key of a lab, for its control plane, hosts and users",
		Long:    keysHelp,
		Example: "  orchestrator keys keys",
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := settingsOf(cmd); err != nil {
				return err
			}
			if len(args) != 1 {
				return fmt.Errorf("name one folder for the keys, as in keys ./keys, and there are %d names", len(args))
			}
			made, err := access.Make(args[0])
			if err != nil {
				return err
			}
			lab := terminal.FromHere(filepath.Join(args[0], access.LabFile))
			if !made {
				_, err = fmt.Fprintf(a.stdout, "%s is there already, and stays as it is\n", lab)
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s: the key of the lab: copy it to each host and each user, for --key\n"+
				"%s: for orchestrator control --keys %s alone\n", lab,
				terminal.FromHere(filepath.Join(args[0], access.ControlFile)), terminal.ShellQuoted(args[0]))
			return err
		},
	}
}
