package foreign

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"turnstile/internal/pattern"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// Name is the name of the algorithm of a foreign program. The algorithm of a service has the service's name.
const Name = "foreign"

// The options of the algorithm of a foreign program. Parse reads the kinds of messages and the promises.
const (
	CommandOption  = "foreign"
	KindsOption    = "kinds"
	PromisesOption = "promises"
	// ServiceOption names the service whose client the program is; the options of the service come beside it.
	// The command that starts the client is not stored with a run: it is added where nodes are started.
	ServiceOption = "service"
	// ClientOption is the command of a client of the user's own for that service; empty: the service's client.
	ClientOption = "client"
	// PassOption names variables of the environment that the program gets beside the usual ones.
	PassOption = "pass"
	// The options of every service: the addresses of servers that run already, and the versions of the servers
	// and of the client's library.
	EndpointOption      = "endpoint"
	ServerVersionOption = "server-version"
	ClientVersionOption = "client-version"
)

// ProgramOptions are the options of a foreign program that is no client of a service.
var ProgramOptions = []string{CommandOption, KindsOption, PromisesOption, PassOption}

// Is reports whether a configuration names a foreign program or a service.
func Is(c nodes.Config) bool { return c.Options[CommandOption] != "" || c.Options[ServiceOption] != "" }

// Speaks reports whether nodes of a configuration are programs of the user's own, and not the own clients of
// a service. The testbed knows only the text of their messages.
func Speaks(c nodes.Config) bool {
	return Is(c) && (c.Options[ServiceOption] == "" || c.Options[ClientOption] != "")
}

// Silent reports whether nodes of a configuration send each other no messages: clients of most services talk
// only to servers.
func Silent(c nodes.Config) bool {
	return c.Options[ServiceOption] != "" && c.Options[KindsOption] == ""
}

// Detects reports whether the program of a configuration is told when nodes go down and come up again.
func Detects(c nodes.Config) bool {
	d, err := Parse("", c.Options[PromisesOption])
	return err == nil && d.Detector
}

// ServiceConfig returns a configuration of a service, with its options and the declaration of its clients.
func ServiceConfig(c nodes.Config, service string, options map[string]string, d *Declaration) nodes.Config {
	c = c.With(ServiceOption, service).With(KindsOption, d.kinds()).With(PromisesOption, d.promises())
	for name, value := range options {
		c = c.With(name, value)
	}
	return c
}

// OptionsOf returns the options of the service of a configuration; nil: it has no service.
func OptionsOf(c nodes.Config) map[string]string {
	if c.Options[ServiceOption] == "" {
		return nil
	}
	own := maps.Clone(c.Options)
	for _, name := range []string{ServiceOption, ClientOption, CommandOption, KindsOption, PromisesOption,
		PassOption} {
		delete(own, name)
	}
	return own
}

// Config returns a configuration with the declaration of a program.
func Config(c nodes.Config, command string, d *Declaration) nodes.Config {
	return c.With(CommandOption, command).With(KindsOption, d.kinds()).With(PromisesOption, d.promises())
}

// Algorithm returns a foreign program, as a configuration declares it, as an Algorithm. The error says what
// is wrong with its options.
func Algorithm(c nodes.Config) (*algorithm.Algorithm, error) {
	d, err := Parse(c.Options[KindsOption], c.Options[PromisesOption])
	if err != nil {
		return nil, err
	}
	command := c.Options[CommandOption]
	if command == "" && !Is(c) {
		return nil, fmt.Errorf("%s: no command: write how the program is started, as in 'python3 ra.py'",
			CommandOption)
	}
	table := kindsOf(d)
	r := foreignProgram{&algorithm.Algorithm{Family: Name, Source: command,
		Summary: "A program in a process of its own, which speaks lines of JSON.",
		Spec: nodes.Spec{Name: Name, Safe: d.Safe, Effective: d.Safe, Live: d.Live, Fenced: d.Fenced,
			Cancels:    d.Cancels,
			Leaves:     d.Leaves,
			Circulates: true, // it is unknown when such a program comes to rest
			Grace:      func(nodes.Config) time.Duration { return d.Grace },
			Messages:   table.messages,
			Timers: []nodes.TimerName{{Kind: set, Name: "timer", PerPeer: true},
				{Kind: again, Name: "again"}},
			Options: []nodes.Option{{Name: CommandOption, Usage: "command that starts the program"},
				{Name: KindsOption, Usage: "kinds of its messages"},
				{Name: PromisesOption, Usage: "what it promises"},
				{Name: PassOption, Usage: "variables that it gets"}}}}}
	if service := c.Options[ServiceOption]; service != "" {
		r.ofService(service, c)
	}
	made := bridge{command: command, pass: c.Options[PassOption], table: table, fenced: d.Fenced, next: initID,
		detector: d.Detector,
		silent:   d.silent(), alone: Silent(c)}
	if d.Elects {
		r.Kind, r.Elector = nodes.Election, d.leadership()
		r.New = func(nodes.Config) nodes.Machine { return &elector{bridge: made} }
	} else {
		r.Mutex, r.Informs = &algorithm.Exclusion{}, true
		r.New = func(nodes.Config) nodes.Machine { return &lock{made} }
	}
	return r.Algorithm, nil
}

// A foreignProgram is the Algorithm of a program while it is being made.
type foreignProgram struct{ *algorithm.Algorithm }

// ofService turns r into the Algorithm of the service called name, with the options of the configuration.
func (r foreignProgram) ofService(name string, c nodes.Config) {
	r.Name, r.Family, r.Source = name, ServiceOption, name
	r.Summary = "A service that people use; its client is a process beside each node."
	if client := c.Options[ClientOption]; client != "" {
		r.Name, r.Source = name+" with "+programOf(client), client
		r.Summary = "A client of your own on the servers of a service."
		r.Options = append(r.Options, nodes.Option{Name: ClientOption, Usage: "command of its client"})
	}
	r.Options = append(r.Options, nodes.Option{Name: ServiceOption, Usage: "name of the service"})
	for _, option := range slices.Sorted(maps.Keys(OptionsOf(c))) {
		r.Options = append(r.Options, nodes.Option{Name: option, Usage: "option of " + name})
	}
}

// programOf returns the name of the program that a command runs, for the name of an algorithm: the first word
// that looks like a file with an extension, as in mylock.py, or else the first word.
func programOf(command string) string {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n'\"", r) })
	if len(words) == 0 {
		return "a client"
	}
	name := path.Base(words[0])
	for _, word := range words {
		if base := path.Base(word); fileName().MatchString(base) {
			name = base
			break
		}
	}
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("._-", r) || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
}

// fileName matches a name with an extension.
var fileName = pattern.Of(`^[A-Za-z_][A-Za-z0-9_-]*\.[A-Za-z]+$`)

// kinds are the kinds of messages of a program. Since codecs tell kinds apart by type, each has its own type:
// structs of one string, the body, that differ only in the tag.
type kinds struct {
	messages []nodes.MessageKind
	types    []reflect.Type
}

// onDisk is the name of the kind of saves.
const onDisk = "on-disk"

// Other is the name of the kind of all messages that were not declared.
const Other = "other"

// Undeclared reports whether a kind of messages is one that programs do not declare.
func Undeclared(kind string) bool { return kind == Other || kind == onDisk }

// kindsOf returns the declared kinds, Other, and onDisk last.
func kindsOf(d *Declaration) *kinds {
	k := &kinds{}
	for _, kind := range append(d.Kinds, nodes.MessageKind{Name: Other}) {
		t := reflect.StructOf([]reflect.StructField{{Name: "Body", Type: reflect.TypeFor[string](),
			Tag: reflect.StructTag(kind.Name)}})
		kind.Zero = reflect.Zero(t).Interface()
		k.messages, k.types = append(k.messages, kind), append(k.types, t)
	}
	k.messages = append(k.messages, nodes.MessageKind{Name: onDisk, Zero: saved{}})
	return k
}

// message returns the message of a type, with a body.
func (k *kinds) message(typ, body string) nodes.Message {
	at := len(k.types) - 1
	for i := range k.types {
		if k.messages[i].Name == typ {
			at = i
			break
		}
	}
	v := reflect.New(k.types[at]).Elem()
	v.Field(0).SetString(body)
	return v.Interface()
}

// says returns the body of a message and, for the kind Other, its type.
func (k *kinds) says(m nodes.Message) (typ, body string) {
	if body = bodyOf(m); reflect.TypeOf(m) == k.types[len(k.types)-1] {
		var head struct{ Type string }
		json.Unmarshal([]byte(body), &head)
		typ = head.Type
	}
	return typ, body
}

// bodyOf returns the body of a message.
func bodyOf(m nodes.Message) string { return reflect.ValueOf(m).Field(0).String() }
