package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"turnstile/internal/english"
	"turnstile/internal/proc"
	"turnstile/internal/quickpipe"
	"turnstile/internal/terminal"
)

// A wrongCall is an error in the command line.
type wrongCall struct{ error }

// A Table has the services of a program.
type Table struct {
	Services []*Service
	Self     []string // the program, with the arguments that come before those of Call
}

// Call runs a program of services: describe NAME, client NAME, up NAME, list, or tell NAME, which prints the
// entry of the service as JSON, without a look at its servers; tell alone prints all. After NAME come options
// such as ttl=2s, and --server-program PATH. It returns the exit status: 64 for a wrong call or a missing
// program, 2 for other failures.
func (t Table) Call(args []string, in io.Reader, out, wrong io.Writer) int {
	err := t.call(args, in, out)
	var w wrongCall
	switch {
	case err == nil:
		return 0
	case errors.As(err, &w):
		fmt.Fprintln(wrong, err)
		return 64
	}
	fmt.Fprintln(wrong, err)
	return 2
}

// list prints the services with their options and non-default settings, in columns as wide as the longest
// name.
func (t Table) list(out io.Writer) {
	wide := 0
	for _, s := range t.Services {
		wide = max(wide, len(s.Name))
	}
	for _, s := range t.Services {
		fmt.Fprintf(out, "%-*s %s\n", wide, s.Name, s.Summary)
		for _, option := range s.Usage() {
			fmt.Fprintf(out, "%*s %s\n", wide, "", option)
		}
		for _, setting := range s.SettingLines() {
			fmt.Fprintf(out, "%*s %s\n", wide, "", setting)
		}
	}
}

func (t Table) call(args []string, in io.Reader, out io.Writer) error {
	if len(args) == 1 && args[0] == "list" {
		t.list(out)
		return nil
	}
	if len(args) == 1 && args[0] == "tell" {
		all := []*Entry{}
		for _, s := range t.Services {
			all = append(all, s.Entry())
		}
		return json.NewEncoder(out).Encode(all)
	}
	if len(args) < 2 || !slices.Contains([]string{"tell", "describe", "client", "up", "server"}, args[0]) {
		return wrongCall{errors.New("write list, or describe, client or up with a NAME and options such as ttl=2s")}
	}
	s, err := t.find(args[1])
	if err != nil {
		return wrongCall{err}
	}
	switch args[0] {
	case "server":
		return serve(s, args[2:])
	case "tell":
		return json.NewEncoder(out).Encode(s.Entry())
	}
	flags := pflag.NewFlagSet(args[0], pflag.ContinueOnError)
	program := flags.String("server-program", "", "path of the server's program")
	endpoint := flags.String("endpoint", "", "addresses of servers that run already")
	others := flags.Bool("other-clients", false, "clients are programs of the user's own")
	if err := flags.Parse(args[2:]); err != nil {
		return wrongCall{err}
	}
	words := flags.Args()
	v, err := s.Parse(words)
	if err != nil {
		return wrongCall{err}
	}
	switch args[0] {
	case "describe":
		var d *Description
		if *others {
			err = s.checkCommon(words)
		}
		if err == nil {
			d, err = describe(s, v, *program, *endpoint, *others)
		}
		if err != nil {
			return wrongCall{err}
		}
		return json.NewEncoder(out).Encode(d)
	case "client":
		runtime.GOMAXPROCS(1) // as the process of a node, whose environment it does not have
		if p := pipeOf(in); p != nil {
			in = p
		}
		if p := pipeOf(out); p != nil {
			out = p
		}
		return s.client(v, in, out)
	}
	if s.Servers == nil {
		return wrongCall{fmt.Errorf("%s has no servers", s.Name)}
	}
	if f, is := in.(*os.File); is && terminal.Is(f) {
		return t.stand(s, v, *program, out)
	}
	return t.up(s, v, in, out)
}

// serve runs a server of a service that is part of this program.
func serve(s *Service, args []string) error {
	if s.Servers == nil || s.Servers.Run == nil {
		return wrongCall{fmt.Errorf("the servers of %s are not part of this program", s.Name)}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return s.Servers.Run(ctx, args)
}

// pipeOf returns a file as a pipe whose reads and writes block no thread, which saves thread switches per
// line; nil: the file is not a pipe.
func pipeOf(file any) *quickpipe.Pipe {
	f, is := file.(*os.File)
	if !is {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 || syscall.SetNonblock(int(f.Fd()), true) != nil {
		return nil
	}
	p, err := quickpipe.New(os.NewFile(f.Fd(), f.Name()))
	if err != nil {
		return nil
	}
	return p
}

// find returns a service by its name.
func (t Table) find(name string) (*Service, error) {
	var names []string
	for _, s := range t.Services {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("there is no service %q: %s", name, instead(name, names))
}

// describe returns the description of a service before a run. If others is set, clients are programs of the
// user's own, and the description has nothing about the service's own client.
func describe(s *Service, v Values, program, endpoint string, others bool) (*Description, error) {
	d := &Description{Protocol: protocol, Service: s.Name, Summary: s.Summary, Promise: s.Promise,
		Link: s.Link, Words: v.Words()}
	if err := s.describeClient(d, v, others); err != nil {
		return nil, err
	}
	if s.Granted != nil {
		d.GrantedMS = float64(s.Granted(v)) / float64(time.Millisecond)
	}
	if endpoint != "" {
		return d, s.checkEndpoint(endpoint, v)
	}
	if s.Servers == nil {
		return d, nil
	}
	paths, err := s.Servers.Paths(v, program)
	if err != nil {
		return nil, err
	}
	d.Members = s.Servers.count(v)
	d.Peers = s.Servers.linked(d.Members)
	d.Leads, d.Promotes = s.Servers.Leader != nil, s.Servers.promotes(v)
	d.Deletes, d.Queues, d.Expires = s.Delete != nil, s.Queues, s.Expire != nil
	d.NoClock = s.Servers.noClock()
	d.RecoversMS = float64(s.Servers.Recovers) / float64(time.Millisecond)
	d.Server, err = s.Servers.versions(context.Background(), v, paths)
	return d, err
}

// describeClient adds the client library and its declaration to a description.
func (s *Service) describeClient(d *Description, v Values, others bool) error {
	if others {
		names := s.common()
		d.Words = slices.DeleteFunc(d.Words, func(word string) bool {
			name, _, _ := strings.Cut(word, "=")
			return !slices.Contains(names, name)
		})
		return nil
	}
	d.Declaration = s.declare(v)
	if s.Holds != nil {
		d.HoldsMS = float64(s.Holds(v)) / float64(time.Millisecond)
	}
	if s.Library != nil {
		d.Library = s.Library(v)
	}
	if s.Needs != nil {
		return s.Needs(v)
	}
	return nil
}

// checkEndpoint returns an error if clients cannot use external servers at the addresses of an endpoint. If
// the servers do not talk to each other, their number must match the options.
func (s *Service) checkEndpoint(endpoint string, v Values) error {
	switch {
	case s.Servers == nil:
		return fmt.Errorf("%s has no servers: leave out --endpoint", s.Name)
	case s.Servers.OnlyHere != "":
		return fmt.Errorf("%s takes no --endpoint: %s", s.Name, s.Servers.OnlyHere)
	}
	named, asked := len(strings.Split(endpoint, ",")), s.Servers.count(v)
	if s.Servers.Ports < 2 && named != asked {
		return fmt.Errorf("--endpoint names %s, and %s has %d with these options", english.Count(named, "server",
			"servers"), s.Name, asked)
	}
	return nil
}

// stand starts servers for a user at a terminal, prints their addresses, and ends them at an interrupt.
func (t Table) stand(s *Service, v Values, program string, out io.Writer) (err error) {
	dir, err := proc.TempDir("servers")
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	u := &controller{service: s, values: v, dir: dir, self: t.Self}
	defer func() { err = errors.Join(err, u.end()) }()
	if u.group, err = newGroup(s, v, program, dir, t.Self); err != nil {
		return err
	}
	if err := u.group.startAll(ctx, nil); err != nil {
		return err
	}
	var all []string
	for _, m := range u.group.members {
		all = append(all, m.Address(0))
	}
	fmt.Fprintf(out, "%s serves at %s, with the secrets in %s; Ctrl-C ends it\n", s.Name, strings.Join(all, ","),
		u.group.secret.Dir)
	<-ctx.Done()
	return nil
}
