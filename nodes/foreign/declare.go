package foreign

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"turnstile/internal/pattern"
	"turnstile/internal/suggest"
	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A Declaration of a program says which of its messages carry the token or a permit, and what it promises.
type Declaration struct {
	Kinds  []nodes.MessageKind // kinds of messages: names, and what they carry; Zero is not set
	Safe   nodes.Assumption    // assumptions needed for safety
	Live   nodes.Assumption    // assumptions needed for progress
	Grace  time.Duration       // time to recover: see nodes.Spec.GraceOf
	Fenced bool                // its entries have fence numbers
	// Cancels says that a client of its lock may cancel a request, and Leaves that a client may stop in order.
	Cancels, Leaves bool
	// Detector means that it is told when nodes go down and come up again: it has a perfect failure detector.
	Detector bool

	Elects  bool          // it elects leaders; otherwise it grants a lock
	Terms   bool          // no two leaders have the same term
	Highest bool          // it elects the highest node that is up
	Overlap time.Duration // how long two leaders may lead while one takes over
}

// everything is all assumptions that an undeclared program may need for progress.
const everything = nodes.NoLoss | nodes.NoDuplication | nodes.FIFO | nodes.NoCrash | nodes.NoAmnesia |
	nodes.NoPause | nodes.Timing | nodes.ServersUp

// patience is the Grace of a program that declares none.
const patience = 2 * time.Second

// assumptions lists the word for each assumption.
var assumptions = []struct {
	word string
	is   nodes.Assumption
}{{"no-loss", nodes.NoLoss}, {"no-duplication", nodes.NoDuplication}, {"fifo", nodes.FIFO},
	{"no-crash", nodes.NoCrash}, {"no-amnesia", nodes.NoAmnesia}, {"no-pause", nodes.NoPause},
	{"timing", nodes.Timing}, {"majority", nodes.Majority},
	{"servers-up", nodes.ServersUp}, {"server-majority", nodes.ServerMajority}}

// undeclared is the declaration of a program that declares nothing: it is safe under all faults, but need not
// make progress after one.
func undeclared() *Declaration { return &Declaration{Live: everything, Grace: patience} }

// silent reports whether the declaration equals undeclared, except for Elects.
func (d *Declaration) silent() bool {
	same := *d
	same.Elects = false
	return same.kinds()+same.promises() == undeclared().promises()
}

var kindName = pattern.Of(`^[A-Za-z0-9_.-]{1,40}$`)

// add adds a declared kind of messages, with the words for what it carries.
func (d *Declaration) add(name string, carries []string) error {
	kind := nodes.MessageKind{Name: name}
	switch {
	case !kindName().MatchString(name) || name == Other || name == onDisk:
		return fmt.Errorf("kinds: %q is no name of a kind: write the type of a body, of letters, digits, _, . "+
			"and -, and neither %s nor %s", name, Other, onDisk)
	case slices.ContainsFunc(d.Kinds, func(k nodes.MessageKind) bool { return k.Name == name }):
		return fmt.Errorf("kinds: %s is given twice: leave out one of the two", name)
	case len(d.Kinds) == nodes.MaxKinds-2:
		return fmt.Errorf("kinds: at most %d are told apart: leave some out, which count as %s",
			nodes.MaxKinds-2, Other)
	}
	for _, what := range carries {
		switch what {
		case "token":
			kind.Token = true
		case "permit":
			kind.Permit = true
		case "heartbeat":
			kind.Heartbeat = true
		default:
			return fmt.Errorf("kinds: %s carries a %q: there are token, permit and heartbeat", name, what)
		}
	}
	d.Kinds = append(d.Kinds, kind)
	return nil
}

// assume reads words for assumptions.
func assume(what string, words []string) (all nodes.Assumption, err error) {
	for _, word := range words {
		found := word == "nothing"
		var known []string
		for _, a := range assumptions {
			known = append(known, a.word)
			if a.word == word {
				all, found = all|a.is, true
			}
		}
		if !found {
			near := ""
			if n := suggest.Nearest(word, known); n != "" {
				near = fmt.Sprintf(": did you mean %s?", n)
			}
			return 0, fmt.Errorf("promises: %s rests on %q, which is not one of nothing, %s%s", what, word,
				strings.Join(known, ", "), near)
		}
	}
	return all, nil
}

// ReadDeclaration reads the body of a declare line.
func ReadDeclaration(body string) (*Declaration, error) {
	d := undeclared()
	var b struct {
		Kinds                  map[string]map[string]bool
		Safe                   json.RawMessage
		Live                   []string
		Fenced, Terms, Highest bool
		Cancels, Leaves        bool
		Detector               bool
		Elects                 *bool
		OverlapMS              float64  `json:"overlap_ms"`
		GraceMS                *float64 `json:"grace_ms"`
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		return nil, fmt.Errorf("its declaration cannot be read (%w): %s", err, Quote([]byte(body)))
	}
	for name, carries := range b.Kinds {
		var words []string
		for what, does := range carries {
			if does {
				words = append(words, what)
			}
		}
		if err := d.add(name, words); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(d.Kinds, func(a, b nodes.MessageKind) int { return strings.Compare(a.Name, b.Name) })
	var words []string
	var err error
	switch text := string(b.Safe); {
	case text == "" || text == "true":
	case text == "false":
		d.Safe = everything
	case json.Unmarshal(b.Safe, &words) != nil:
		return nil, fmt.Errorf("safe is %s: write true, false, or a list of what it rests on", text)
	default:
		d.Safe, err = assume("safe", words)
	}
	if err == nil && b.Live != nil {
		d.Live, err = assume("live", b.Live)
	}
	d.Fenced, d.Cancels, d.Leaves, d.Terms, d.Highest = b.Fenced, b.Cancels, b.Leaves, b.Terms, b.Highest
	d.Detector = b.Detector
	d.Elects = b.Elects != nil && *b.Elects
	d.Overlap = milliseconds(b.OverlapMS)
	if b.GraceMS != nil {
		d.Grace = milliseconds(*b.GraceMS)
	}
	return d, err
}

// Parse reads a declaration as text: kinds as in token:token,reply:permit, and promises as in
// safe=no-loss+timing,elects,terms.
func Parse(kinds, promises string) (*Declaration, error) {
	d := undeclared()
	for _, text := range list(kinds) {
		name, carries, some := strings.Cut(text, ":")
		var words []string
		if some {
			words = strings.Split(carries, "+")
		}
		if err := d.add(name, words); err != nil {
			return nil, err
		}
	}
	for _, text := range list(promises) {
		if err := d.promise(text); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.ReplaceAll(text, " ", ""), ",")
}

// promise reads one promise.
func (d *Declaration) promise(text string) (err error) {
	name, value, _ := strings.Cut(text, "=")
	switch name {
	case "safe":
		d.Safe, err = assume(name, strings.Split(value, "+"))
	case "live":
		d.Live, err = assume(name, strings.Split(value, "+"))
	case "grace":
		d.Grace, err = length(name, value)
	case "overlap":
		d.Overlap, err = length(name, value)
	case "fenced":
		d.Fenced = true
	case "cancels":
		d.Cancels = true
	case "detector":
		d.Detector = true
	case "leaves":
		d.Leaves = true
	case "elects":
		d.Elects = true
	case "terms":
		d.Terms = true
	case "highest":
		d.Highest = true
	default:
		err = fmt.Errorf("promises: there is no %q: there are safe, live, grace, overlap, fenced, cancels, "+
			"leaves, detector, elects, terms and highest, as in safe=no-loss+timing,fenced", text)
	}
	return err
}

func length(name, value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("promises: %s is %q, which is no length of time: write one, as in 200ms", name, value)
	}
	return d, nil
}

// kinds writes the kinds as Parse reads them.
func (d *Declaration) kinds() string {
	var all []string
	for _, k := range d.Kinds {
		var carries []string
		for _, c := range []struct {
			does bool
			word string
		}{{k.Token, "token"}, {k.Permit, "permit"}, {k.Heartbeat, "heartbeat"}} {
			if c.does {
				carries = append(carries, c.word)
			}
		}
		text := k.Name
		if carries != nil {
			text += ":" + strings.Join(carries, "+")
		}
		all = append(all, text)
	}
	return strings.Join(all, ",")
}

// promises writes the promises as Parse reads them.
func (d *Declaration) promises() string {
	all := []string{"safe=" + words(d.Safe), "live=" + words(d.Live), "grace=" + d.Grace.String()}
	if d.Overlap > 0 {
		all = append(all, "overlap="+d.Overlap.String())
	}
	for _, p := range []struct {
		does bool
		word string
	}{{d.Fenced, "fenced"}, {d.Cancels, "cancels"}, {d.Leaves, "leaves"}, {d.Detector, "detector"},
		{d.Elects, "elects"}, {d.Terms, "terms"}, {d.Highest, "highest"}} {
		if p.does {
			all = append(all, p.word)
		}
	}
	return strings.Join(all, ",")
}

func words(of nodes.Assumption) string {
	var all []string
	for _, a := range assumptions {
		if of&a.is != 0 {
			all = append(all, a.word)
		}
	}
	if all == nil {
		return "nothing"
	}
	return strings.Join(all, "+")
}

// leadership returns the promises about leaders.
func (d *Declaration) leadership() *algorithm.Leadership {
	l := &algorithm.Leadership{Terms: d.Terms}
	if d.Highest {
		l.Wins = algorithm.HighestWins
	}
	if d.Overlap > 0 {
		l.Overlap = func(nodes.Config) time.Duration { return d.Overlap }
	}
	return l
}
