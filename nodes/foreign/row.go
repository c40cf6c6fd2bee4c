package foreign

import (
	"fmt"
	"reflect"
	"time"

	"turnstile/nodes"
	"turnstile/nodes/row"
)

// Name is the name of the rows of foreign programs.
const Name = "foreign"

// The options of such a row: the command, the kinds of its messages and what it promises, as text.
const (
	CommandOption  = "foreign"
	KindsOption    = "kinds"
	PromisesOption = "promises"
)

// Config returns a configuration with what a program has declared.
func Config(c nodes.Config, command string, d *Declaration) nodes.Config {
	return c.With(CommandOption, command).With(KindsOption, d.kinds()).With(PromisesOption, d.promises())
}

// Row returns the row of the program that a configuration names. The error says what of its options is wrong.
func Row(c nodes.Config) (*row.Row, error) {
	d, err := Parse(c.Options[KindsOption], c.Options[PromisesOption])
	if err != nil {
		return nil, err
	}
	command := c.Options[CommandOption]
	if command == "" {
		return nil, fmt.Errorf("%s: no command: write how the program is started, as in 'python3 ra.py'",
			CommandOption)
	}
	table := kindsOf(d)
	r := &row.Row{Family: Name, Source: command,
		Summary: "A program in a process of its own, which speaks lines of JSON.",
		Spec: nodes.Spec{Name: Name, Safe: d.Safe, Effective: d.Safe, Live: d.Live, Fenced: d.Fenced,
			Circulates: true, // nobody knows when such a program comes to rest
			Grace:      func(nodes.Config) time.Duration { return d.Grace },
			Messages:   table.messages,
			Timers: []nodes.TimerName{{Kind: set, Name: "timer", PerPeer: true},
				{Kind: again, Name: "again"}},
			Options: []nodes.Option{{Name: CommandOption, Usage: "command that starts the program"},
				{Name: KindsOption, Usage: "kinds of its messages"},
				{Name: PromisesOption, Usage: "what it promises"}}}}
	made := bridge{command: command, table: table, fenced: d.Fenced, next: initID}
	if d.Elects {
		r.Kind, r.Elector = nodes.Election, d.leadership()
		r.New = func(nodes.Config) nodes.Machine { return &elector{made} }
	} else {
		r.Mutex, r.Informs = &row.Exclusion{}, true
		r.New = func(nodes.Config) nodes.Machine { return &lock{made} }
	}
	return r, nil
}

// kinds are the kinds of messages of a program. Each has a type of its own, since codecs tell kinds apart by
// their types: structs of one string, the body, that differ in the tag alone.
type kinds struct {
	messages []nodes.MessageKind
	types    []reflect.Type
}

// onDisk is the name of the kind of what is saved.
const onDisk = "on-disk"

// Other is the name of the kind of all messages that were not declared.
const Other = "other"

// kindsOf returns the declared kinds and Other. What is saved on the disk is the last kind of messages.
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

// message returns the message with a body.
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

// bodyOf returns the body of a message.
func bodyOf(m nodes.Message) string { return reflect.ValueOf(m).Field(0).String() }
