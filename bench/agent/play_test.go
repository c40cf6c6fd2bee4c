//go:build linux

package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"turnstile/bench/cluster"
	"turnstile/internal/broker"
	"turnstile/internal/jsonseq"
	"turnstile/nodes/history"
)

// playing is the argument that makes the program of these tests play a process of a host, or its agent.
const playing = "play"

func TestMain(m *testing.M) {
	role := ""
	switch {
	case len(os.Args) == 1:
		role = "node" // as an agent starts it
	case len(os.Args) == 3 && os.Args[1] == playing:
		role = os.Args[2]
	}
	if role != "" {
		if err := play(role); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// playedProgram returns the program that plays a role.
func playedProgram(role string) []string { return []string{os.Args[0], playing, role} }

func play(role string) error {
	switch role {
	case "agent":
		return ServePiped(context.Background(), os.Stdin, os.Stdout,
			Options{Programs: map[string][]string{BrokerProgram: playedProgram("node")}})
	case "node":
		return playNode()
	}
	return fmt.Errorf("there is no role %s", role)
}

// A playedInput is what a node that is played is started with, and a playedNote what it says.
type (
	playedInput struct {
		Log string `json:"log"`
	}
	playedNote struct {
		PID   int    `json:"pid,omitempty"`
		Heard string `json:"heard,omitempty"`
	}
)

// playNode enters with each word that it is told, at the time 100, 200 and so on, and says the word.
func playNode() error {
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadString('\n')
	var in playedInput
	if err == nil {
		err = json.Unmarshal([]byte(line), &in)
	}
	if err != nil {
		return err
	}
	var log *history.Log
	if in.Log != "" {
		if log, err = history.Create(in.Log, history.Options{Nodes: 1, Instances: 1}); err != nil {
			return err
		}
	}
	say := func(note playedNote) {
		b, err := jsonseq.Encode(note)
		if err == nil {
			_, err = os.Stdout.Write(b)
		}
		if err != nil {
			panic(err)
		}
	}
	say(playedNote{PID: os.Getpid()})
	for count := uint64(1); ; count++ {
		word, err := input.ReadString('\n')
		switch word = strings.TrimSpace(word); {
		case err != nil:
			return err
		case word == "quit":
			return nil
		case word == "fail":
			return errors.New("these are its last words")
		}
		if log != nil {
			log.Append(history.Event{At: int64(100 * count), Kind: history.Entered})
			log.Instance(0).Entries.Store(count)
		}
		say(playedNote{Heard: word})
	}
}

// A text collects what is written to it.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (x *text) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.Write(b)
}

func (x *text) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.b.String()
}

// controlPlane starts a control plane, and returns its URL.
func controlPlane(t *testing.T) string {
	t.Helper()
	token := broker.NewToken()
	s, err := broker.Start(broker.Config{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return fmt.Sprintf("nats://%s@%s", token, s.Addr())
}

func connect(t *testing.T, url string) *nats.Conn {
	t.Helper()
	conn, err := nats.Connect(url, nats.Timeout(joinLimit))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// A served is an agent in this process.
type served struct {
	Options
	conn *nats.Conn
	log  *text
	stop func() // ends it, as its user does
	over chan error
}

// serve starts an agent, whose options may be changed, and waits until it can be found, or has ended.
func serve(t *testing.T, url string, change func(*Options)) *served {
	t.Helper()
	s := &served{conn: connect(t, url), log: &text{}, over: make(chan error, 1)}
	s.Options = Options{Name: "a", Folder: t.TempDir(), Version: "7", Log: s.log,
		Programs: map[string][]string{NodeProgram: playedProgram("node")}}
	if change != nil {
		change(&s.Options)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan bool), make(chan bool)
	s.stop = func() { cancel(); <-ended }
	go func() {
		defer close(ended)
		s.over <- Serve(ctx, s.conn, s.Options, func() { close(ready) })
	}()
	t.Cleanup(s.stop)
	select {
	case <-ready:
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the agent does not come up")
	}
	return s
}

// A played is a run with one host.
type played struct {
	*testing.T
	*Run
	host *Host
}

// joined returns a run that the host of that name serves, in its first trial.
func joined(t *testing.T, url, name string) *played {
	t.Helper()
	p := &played{T: t}
	var err error
	if p.Run, err = NewRun(connect(t, url), broker.NewToken()[:12]); err != nil {
		t.Fatal(err)
	}
	if p.host, err = p.join(name, Join{Version: "7", User: "me", What: "a test", Nodes: 2}); err == nil {
		err = p.host.Begin(t.Context(), p.Name+"-trial-1")
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *played) join(name string, j Join) (*Host, error) {
	d, err := Describe(p.conn, name, time.Second)
	if err != nil {
		p.Fatal(err)
	}
	return p.Run.Join(p.Context(), d, j)
}

// A heardNode is a node on the host, and what it says.
type heardNode struct {
	cluster.Node
	t     *testing.T
	notes chan playedNote
}

// node starts a node with a log.
func (p *played) node(log string) *heardNode {
	p.Helper()
	n := &heardNode{t: p.T, notes: make(chan playedNote, 10_000)}
	reader := &jsonseq.Reader[playedNote]{On: func(note playedNote) { n.notes <- note }}
	c := cluster.Command{Name: "a node", Program: []string{NodeProgram}, Log: p.host.Folder + "/" + log}
	input, err := json.Marshal(playedInput{c.Log})
	if err == nil {
		c.Input = append(input, '\n')
		n.Node, err = p.host.Start(c, reader.Sift)
	}
	if err != nil {
		p.Fatal(err)
	}
	return n
}

// says waits for what it says next.
func (n *heardNode) says() playedNote {
	n.t.Helper()
	select {
	case note := <-n.notes:
		return note
	case <-n.Ended():
		n.t.Fatalf("it has ended: %+v", n.Fate())
	case <-time.After(20 * time.Second):
		n.t.Fatal("it says nothing")
	}
	return playedNote{}
}

// tell tells it something.
func (n *heardNode) tell(what string) {
	n.t.Helper()
	if err := n.Tell([]byte(what + "\n")); err != nil {
		n.t.Fatal(err)
	}
}

// ends waits until it has ended, and returns how.
func (n *heardNode) ends() cluster.Fate {
	n.t.Helper()
	await(n.t, "the node ends", n.Ended())
	return n.Fate()
}

func await(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("not within 20s: " + what)
	}
}

// until waits until something is so, and returns how long that took.
func until(t *testing.T, what string, so func() bool) time.Duration {
	t.Helper()
	begun := time.Now()
	for !so() {
		if time.Since(begun) > 20*time.Second {
			t.Fatal("not within 20s: " + what)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(begun)
}

// gone reports whether a process has ended.
func gone(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(b), ") Z ")
}

// agentProcess starts an agent in a process of its own.
func agentProcess(t *testing.T, url, name string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], playing, "agent")
	token, at, _ := strings.Cut(strings.TrimPrefix(url, "nats://"), "@")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	err = json.NewEncoder(in).Encode(Piped{URL: "nats://" + at, Token: token, Name: name, Version: "7",
		Folder: t.TempDir(), Node: os.Args[0]})
	if err == nil {
		_, err = io.ReadFull(out, make([]byte, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}
