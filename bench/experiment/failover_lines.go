package experiment

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"turnstile/internal/yamlfile"
)

// A FailoverLine is a service of the table of failovers, with options.
type FailoverLine struct {
	Service string   `yaml:"service"`
	With    []string `yaml:"with"` // options, as members=3
	// TTL are options that depend on the time to live that is asked for: px={1} is that time, every={0.25} a
	// quarter of it. None: the service has no such time.
	TTL []string `yaml:"ttl"`
	// Lacks says by faults of FailoverFaults why they have no meaning here: of servers, one says it of both.
	Lacks map[string]string `yaml:"lacks"`
}

// FailoverFaults are the faults of the table: the holder or leader is killed, stands still, is cut off from
// all others or all servers; the server that leads is killed, or cut off from the other servers.
var FailoverFaults = []string{"kill", "pause", "cut", killServer, cutServer}

const killServer, cutServer = "kill-server", "cut-server"

//go:embed failover.yaml
var failoverLines []byte

// FailoverLines returns the services of the table of failovers.
func FailoverLines() []*FailoverLine {
	all, err := readFailoverLines(failoverLines)
	if err != nil {
		panic(err) // a test reads them
	}
	return all
}

func readFailoverLines(text []byte) ([]*FailoverLine, error) {
	var file struct {
		Lines []*FailoverLine `yaml:"lines"`
	}
	if err := yamlfile.Decode(text, &file); err != nil && err != io.EOF {
		return nil, err
	}
	for i, l := range file.Lines {
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("line %d of failovers, %s: %w", i+1, l.Service, err)
		}
	}
	return file.Lines, nil
}

// check returns an error if the line lacks something, or has values that contradict each other.
func (l *FailoverLine) check() error {
	if l.Service == "" {
		return errors.New("it takes a service")
	}
	for _, fault := range slices.Sorted(maps.Keys(l.Lacks)) {
		if !slices.Contains(FailoverFaults, fault) {
			return fmt.Errorf("lacks: %s is no fault of the table: there are %s", fault,
				strings.Join(FailoverFaults, ", "))
		}
		if l.Lacks[fault] == "" {
			return fmt.Errorf("lacks: say why %s has no meaning", fault)
		}
	}
	for _, option := range l.TTL {
		if !ofTTL.MatchString(option) {
			return fmt.Errorf("ttl: %s does not depend on the ttl: write it as px={1}", option)
		}
	}
	return nil
}

// ofTTL matches the place of a time that is a share of the ttl.
var ofTTL = regexp.MustCompile(`\{[0-9.]+\}`)

// Words returns the options of the service with a ttl.
func (l *FailoverLine) Words(ttl time.Duration) []string {
	words := slices.Clone(l.With)
	for _, option := range l.TTL {
		words = append(words, ofTTL.ReplaceAllStringFunc(option, func(place string) string {
			part, _ := strconv.ParseFloat(strings.Trim(place, "{}"), 64) // ofTTL has matched it
			return time.Duration(part * float64(ttl)).Round(time.Millisecond).String()
		}))
	}
	return words
}

// Text returns the service with the options that do not depend on the time to live.
func (l *FailoverLine) Text() string {
	return strings.Join(append([]string{l.Service}, l.With...), " ")
}

// TTLs returns the times to live, of those that the user asks for, that the line is run with. A service
// without a ttl has one time, 0.
func (l *FailoverLine) TTLs(asked []time.Duration) []time.Duration {
	if len(l.TTL) == 0 {
		return []time.Duration{0}
	}
	return asked
}
