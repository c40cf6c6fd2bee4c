package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/plainjson"
	"turnstile/nodes"
)

// The names of a program's partners other than its peers.
const (
	Client = "c0"    // the testbed
	timers = "timer" // a service that sends a line back after a time
	disk   = "disk"  // a service that keeps values, which survive a kill
)

// Error codes of Maelstrom; lockLost and gaveUp are Turnstile's own.
const (
	timedOut     = 0
	nodeNotFound = 1
	notSupported = 10
	unavailable  = 11
	keyNotFound  = 20
	lockLost     = 1000
	gaveUp       = 1001
)

// LongestLine is how many bytes a line may have.
const LongestLine = 1 << 20

// A Said is a line that a program has written. Body is decoded only if the line is not for a peer.
type Said struct {
	To      nodes.ID // the peer that receives it; None: it is not for a peer, but for Service
	Service string   // the receiver as the line names it
	Type    string
	Raw     string // the body as text
	Body    body
}

// A body is the body of a line for the testbed or its services.
type body struct {
	Type      string          `json:"type"`
	MsgID     json.RawMessage `json:"msg_id"`
	InReplyTo *uint64         `json:"in_reply_to"`
	Stays     bool            `json:"stays"`
	Fence     *uint64         `json:"fence"`
	Leader    *string         `json:"leader"`
	Term      uint64          `json:"term"`
	ID        json.RawMessage `json:"id"`
	MinMS     float64         `json:"min_ms"`
	MaxMS     *float64        `json:"max_ms"`
	Key       json.RawMessage `json:"key"`
	Value     json.RawMessage `json:"value"`
	Code      int             `json:"code"`
	Text      string          `json:"text"`
}

// Read reads a line of the program of a node. The error says what is wrong with the line.
func Read(line []byte, id nodes.ID) (s Said, err error) {
	if s, ok := quick(line, id); ok {
		return s, nil
	}
	return slow(line, id)
}

// slow reads a line in any form of JSON.
func slow(line []byte, id nodes.ID) (s Said, err error) {
	var envelope struct {
		Src, Dest string
		Body      json.RawMessage
	}
	if err := json.Unmarshal(line, &envelope); err != nil {
		return s, fmt.Errorf("it wrote a line that is no JSON object with src, dest and body: %s", Quote(line))
	}
	if envelope.Src != NameOf(id) {
		return s, fmt.Errorf("it wrote a line whose src is %q, but it is %s: %s", envelope.Src, NameOf(id),
			Quote(line))
	}
	var head struct{ Type string }
	if err := json.Unmarshal(envelope.Body, &head); err != nil || head.Type == "" {
		return s, fmt.Errorf("it wrote a line whose body has no type: %s", Quote(line))
	}
	s = Said{To: nodeOf(envelope.Dest), Service: envelope.Dest, Type: head.Type, Raw: string(envelope.Body)}
	if s.To != nodes.None {
		return s, nil
	}
	if err := json.Unmarshal(envelope.Body, &s.Body); err != nil {
		return s, fmt.Errorf("it wrote a body that %s cannot read (%w): %s", s.Service, err, Quote(line))
	}
	return s, nil
}

// Quote returns the beginning of a line, for errors.
func Quote(line []byte) string {
	const most = 200
	if len(line) > most {
		return strconv.Quote(string(line[:most])) + "..."
	}
	return strconv.Quote(string(line))
}

// NameOf returns the name of a node: n0 for the first.
func NameOf(id nodes.ID) string { return "n" + strconv.Itoa(int(id)) }

// nodeOf returns the node with a name, or None.
func nodeOf(name string) nodes.ID {
	digits, is := strings.CutPrefix(name, "n")
	id, err := strconv.ParseInt(digits, 10, 32)
	if !is || err != nil || NameOf(nodes.ID(id)) != name {
		return nodes.None
	}
	return nodes.ID(id)
}

// An Init is the first line to a program.
type Init struct {
	Node        nodes.ID
	N           int
	Seed        uint64
	Incarnation uint32 // how often the node has restarted
	Service
}

// A Service tells a client how to use a service.
type Service struct {
	// Servers are host:port, as this node reaches them; empty: they do not run yet, and the client only has to
	// declare what it promises.
	Servers []string `json:"servers,omitempty"`
	Prefix  string   `json:"prefix,omitempty"` // prefix of all names that the client creates in the service
	// Secrets is the folder with the secret of the servers (see internal/secret). Empty: none is needed.
	Secrets string `json:"secrets,omitempty"`
	// TTL is the time after which the servers free the lock of a silent client; 0: none is known.
	TTL time.Duration `json:"ttl,omitempty"`
	// Hold is how long clients stay inside on average; 0: they do not enter, or it is not known.
	Hold time.Duration `json:"hold,omitempty"`
	// With are the options of the service, by name.
	With map[string]string `json:"with,omitempty"`
}

// OptionsIn returns the options of a service, given as name=value.
func OptionsIn(words []string) map[string]string {
	options := map[string]string{}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		options[name] = value
	}
	return options
}

// initID is the msg_id of init. Later ones are higher.
const initID = 1

// Line returns the line with its newline.
func (i *Init) Line() []byte {
	var names []string
	for id := range nodes.ID(i.N) {
		names = append(names, NameOf(id))
	}
	options := map[string]any{"incarnation": i.Incarnation}
	if i.Prefix != "" {
		options["servers"], options["prefix"] = append([]string{}, i.Servers...), i.Prefix
		if options["with"] = i.With; i.With == nil {
			options["with"] = map[string]string{}
		}
	}
	if i.TTL > 0 {
		options["ttl_ms"] = float64(i.TTL) / float64(time.Millisecond)
	}
	if i.Hold > 0 {
		options["hold_ms"] = float64(i.Hold) / float64(time.Millisecond)
	}
	if i.Secrets != "" {
		options["secrets"] = i.Secrets
	}
	b, _ := json.Marshal(map[string]any{"src": Client, "dest": NameOf(i.Node), "body": map[string]any{
		"type": "init", "msg_id": initID, "node_id": NameOf(i.Node), "node_ids": names, "seed": i.Seed,
		"options": options}})
	return append(b, '\n')
}

// Dest returns the name of the receiver of a line.
func (s *Said) Dest() string {
	if s.To != nodes.None {
		return NameOf(s.To)
	}
	return s.Service
}

// Declares reports whether a line is a declaration.
func (s *Said) Declares() bool {
	return s.To == nodes.None && s.Service == Client && s.Type == "declare"
}

// Answers reports whether a line is the answer to init. Before that a program may only declare its promises;
// any other line is an error.
func (s *Said) Answers() (bool, error) {
	switch {
	case s.Declares():
		return false, nil
	case s.Service != Client || s.To != nodes.None:
		return false, fmt.Errorf("its first line is for %s: it has to be init_ok for %s", s.Service, Client)
	case s.Type == "error":
		return false, fmt.Errorf("it answered init with error %d: %s", s.Body.Code, s.Body.Text)
	case s.Type != "init_ok":
		return false, fmt.Errorf("its first line is %s: it has to be init_ok", s.Type)
	}
	return true, nil
}

// ReadsClock reports whether a line asks for the time by the clock of its node.
func (s *Said) ReadsClock() bool {
	return s.To == nodes.None && s.Service == timers && s.Type == "read" && len(s.Body.MsgID) > 0
}

// Time returns the answer to a line that asks the clock of a node, which shows a time.
func (s *Said) Time(id nodes.ID, shows time.Time) []byte {
	return line(nil, timers, id, fmt.Sprintf(`{"type":"read_ok","in_reply_to":%s,"ms":%.3f}`, s.Body.MsgID,
		float64(shows.UnixMicro())/1000))
}

// line appends a line for the program of a node to the bytes to.
func line(to []byte, src string, id nodes.ID, body string) []byte {
	to = append(append(to, `{"src":"`...), src...)
	to = append(append(to, `","dest":"`...), NameOf(id)...)
	to = append(append(to, `","body":`...), body...)
	return append(to, "}\n"...)
}

// errNoTime is the error for a timer without a valid time.
var errNoTime = errors.New("it set a timer without a valid time: write min_ms, and max_ms to draw between " +
	"the two, from 0 to 86400000")

// quick reads a line to the testbed in the usual form: no spaces, names and texts without escapes, whole
// numbers, and only the keys that it knows. It reports whether the line has this form. A test checks that
// quick and slow return the same.
func quick(text []byte, id nodes.ID) (s Said, ok bool) {
	l := plainjson.Scan{Text: text}
	var src, dest, raw []byte
	ok = l.Object(func(key string) bool {
		switch key {
		case "src":
			src = l.Word()
		case "dest":
			dest = l.Word()
		case "body":
			s.Type, s.Body, raw = "", body{}, nil
			from := l.At
			if !l.Object(func(key string) bool { return field(&l, key, &s.Body) }) {
				return false
			}
			raw = text[from:l.At]
		default:
			return false
		}
		return !l.Failed
	})
	if !ok || l.At != len(text) || raw == nil || string(dest) != Client || string(src) != NameOf(id) ||
		s.Body.Type == "" {
		return Said{}, false
	}
	s.To, s.Service, s.Type, s.Raw = nodes.None, Client, s.Body.Type, string(raw)
	return s, true
}

// field reads the value of a key of a body.
func field(l *plainjson.Scan, key string, b *body) bool {
	switch key {
	case "type":
		b.Type = string(l.Word())
	case "in_reply_to":
		n := l.Number()
		b.InReplyTo = &n
	case "fence":
		n := l.Number()
		b.Fence = &n
	case "stays":
		b.Stays = l.Truth()
	default:
		return false
	}
	return !l.Failed
}
