package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"turnstile/bench/access"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
)

const keysHelp = `Make the keys of a control plane: one for each host, by which its agent is that host and
no other, one for each user, who may order the hosts, and one for the server. DIR is the folder that holds
them.

The first call makes an authority for TLS, and wants --control: where the server will be reached. It makes a
key for the user me if it names no user. Later calls on the same folder add keys, and replace none. A server
that is running (orchestrator control --keys DIR) lets new keys in, and revoked ones out, within a second.

A key file is all that a client needs, and a secret: copy it to its host or its user, and to nobody else. To
the machine of the server go control.nk and allowed.yaml; authority.pem stays where keys are made.`

const keysExample = `  orchestrator keys keys --control control.example.org,10.0.0.5 --host host-a,host-b
  orchestrator keys keys --host host-c --user you
  orchestrator keys keys --missing --host host-a,host-b,host-d
  orchestrator keys keys --revoke host-a
  orchestrator keys keys --renew --control control2.example.org`

func (a *app) keysCommand() *cobra.Command {
	var r access.Request
	cmd := &cobra.Command{
		Use:     "keys DIR",
		Short:   "Make the keys of hosts, users and the server of a control plane",
		Long:    keysHelp,
		Example: keysExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := settingsOf(cmd); err != nil {
				return err
			}
			if len(args) != 1 {
				return fmt.Errorf("name one folder for the keys, as in keys ./keys --control localhost --host host-a, "+
					"and there are %d names", len(args))
			}
			made, err := access.Make(args[0], r)
			if err != nil {
				return err
			}
			return a.printKeys(args[0], made)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&r.Control, "control", nil, "DNS names and IP `addresses` of the server; localhost is "+
		"always one of them")
	f.StringSliceVar(&r.Hosts, "host", nil, "`names` of hosts that get a key")
	f.StringSliceVar(&r.Users, "user", nil, "`names` of users that get a key (of the first call: default me)")
	f.StringSliceVar(&r.Revoke, "revoke", nil, "`names` of hosts and users whose keys are refused from now on")
	f.BoolVar(&r.Missing, "missing", false, "make only the keys that are not there yet, and keep the others")
	f.BoolVar(&r.Renew, "renew", false, "make the certificate of the server anew; all keys stay as they are")
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "hosts" || name == "users" {
			name = strings.TrimSuffix(name, "s")
		}
		return pflag.NormalizedName(name)
	})
	forOneCall(cmd, "control", "host", "user", "missing", "revoke", "renew")
	return cmd
}

// printKeys says what was made in a folder, and where it goes.
func (a *app) printKeys(dir string, made *access.Made) error {
	for _, f := range made.Files {
		to := "copy it to " + f.Name + ", for orchestrator host --key"
		switch f.Role {
		case access.Control:
			to = "for orchestrator control --keys " + terminal.ShellQuoted(dir)
		case access.User:
			to = "give it to " + f.Name + ", for --key"
		}
		if _, err := fmt.Fprintf(a.stdout, "%s: the key of %v: %s\n", terminal.FromHere(f.Path), f.Identity,
			to); err != nil {
			return err
		}
	}
	if kept := len(made.Kept); kept > 0 {
		if _, err := fmt.Fprintf(a.stdout, "%s there already, and stay as they are\n",
			english.Count(kept, "key is", "keys are")); err != nil {
			return err
		}
	}
	for _, name := range made.Revoked {
		if _, err := fmt.Fprintf(a.stdout, "%s: its key is refused from now on\n", name); err != nil {
			return err
		}
	}
	if made.Control == nil {
		return nil
	}
	_, err := fmt.Fprintf(a.stdout, "the server may be reached at %s; its certificate is valid until %s\n",
		strings.Join(made.Control, ", "), made.Until.Format(time.DateOnly))
	return err
}
