//go:build linux

package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// give gives an order as anybody might who can publish it, and returns the answer.
func (p *played) give(o order) reply {
	p.Helper()
	var r reply
	b, err := json.Marshal(o)
	if err != nil {
		p.Fatal(err)
	}
	m, err := p.conn.Request(orderSubject("a"), b, 20*time.Second)
	if err == nil {
		err = json.Unmarshal(m.Data, &r)
	}
	if err != nil {
		p.Fatal(err)
	}
	return r
}

// refused wants an order to be refused, and that to be in the agent's log.
func (p *played) refused(s *served, what string, o order, says string) {
	p.Helper()
	before := len(s.log.String())
	got := p.give(o).Error
	if !strings.Contains(got, says) {
		p.Errorf("%s: the answer is %q, not %q", what, got, says)
	}
	if log := s.log.String()[before:]; !strings.Contains(log, says) {
		p.Errorf("%s: the agent's log says %q", what, log)
	}
}

// An order is carried out once, in its turn, by the agent and for the run that it is meant for.
func TestOrdersAreNotReplayed(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, nil)
	p := joined(t, url, "a")
	o := order{Run: p.Name, Boot: p.host.Boot, Number: 100, Do: doAnswer}
	if got := p.give(o); got.Error != "" {
		t.Fatalf("refused: %s", got.Error)
	}
	p.refused(s, "the same again", o, "number 100 of the run "+p.Name+" was given before")
	o.Number = 99
	p.refused(s, "an older one", o, "number 99 of the run "+p.Name+" was given before")
	o.Number, o.Boot = 101, "yesterday"
	p.refused(s, "to another start", o, "another start of this agent")
	o.Boot, o.Run = p.host.Boot, "another"
	p.refused(s, "of another run", o, "it does not serve the run another")
	o.Run = "../../etc"
	p.refused(s, "of no run", o, `"../../etc" is no name of a run`)
	o.Run, o.Do = p.Name, "format"
	p.refused(s, "unknown", o, `there is no order "format"`)
	o.Number, o.Do = 102, doJoin
	p.refused(s, "joining again", o, `there is no order "join"`)
	o.Run, o.Number = "fresh", 1
	p.refused(s, "joining for nothing", o, "it says nothing of the run")
	o.Join = &Join{Protocol: Protocol, Version: "8"}
	p.refused(s, "another version", o, "it is Turnstile 7 (protocol 1), and the orchestrator is 8 "+
		"(protocol 1): install the same on both")
	o.Join = &Join{Protocol: 99, Version: "7"}
	p.refused(s, "another protocol", o, "the orchestrator is 7 (protocol 99)")
	if err := p.host.Begin(t.Context(), "next"); err == nil {
		t.Error("the run goes on, whose numbers somebody else has used")
	}
}

// An agent refuses each order of a run that has ended, also if the orders come again from the first one.
func TestRunsThatAreOverAreNotReplayed(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, nil)
	p := joined(t, url, "a")
	if err := p.host.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := order{Run: p.Name, Boot: p.host.Boot, Number: 1, Do: doJoin,
		Join: &Join{Protocol: Protocol, Version: "7"}}
	p.refused(s, "joining again", o, "the run "+p.Name+" is over")
	o.Number, o.Do = 2, doAnswer
	p.refused(s, "going on", o, "the run "+p.Name+" is over")
}

// No name leads out of the folders of an agent.
func TestNamesAreCheckedBeforeTheyTouchAPath(t *testing.T) {
	url := controlPlane(t)
	s := serve(t, url, nil)
	p := joined(t, url, "a")
	secret := filepath.Join(s.Folder, "secret.log")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	number := uint64(100)
	give := func(what string, o order, says string) {
		t.Helper()
		number++
		o.Run, o.Boot, o.Number = p.Name, p.host.Boot, number
		p.refused(s, what, o, says)
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", "/etc", "a\x00b", ".hidden", "a b", "é",
		strings.Repeat("a", 200)} {
		give("a folder "+name, order{Do: doTrial, File: name}, "is no name of a folder")
		give("a log "+name, order{Do: doPiece, File: name + ".log", Length: 10}, "is no log")
		give("a digest "+name, order{Do: doDigest, File: name}, "is no log")
		give("another run "+name, order{Do: doSignal, Process: 0, Signal: 15, File: name}, "")
		e := order{Do: doStart, Process: 7, Start: &command{Program: NodeProgram, LogFile: name + "\n"}}
		e.Run, e.Boot = p.Name, p.host.Boot
		number++
		e.Number = number
		before := len(s.log.String())
		if p.give(e); !strings.Contains(s.log.String()[before:], "is no name of a log") {
			t.Errorf("a node may have a log %q", name)
		}
	}
	for _, path := range []string{"/etc/passwd", "probe", SharedMemory + "/probe", SharedMemory + "/other/probe",
		SharedMemory + "/" + p.Name + "/x", SharedMemory + "/" + p.Name + "/../" + p.Name + "/probe",
		SharedMemory + "/" + p.Name + "/probe\x00"} {
		give("a probe of "+path, order{Do: doProbe, File: path}, "is no file of the run")
	}
	// The last of these goes on.
	for _, run := range []string{"..", "../x", "nothing", "secret.log", p.Name + "-trial-1"} {
		give("adopting "+run, order{}, "there is no order")
		o := order{Run: "fresh", Boot: p.host.Boot, Number: 1, Do: doJoin, Join: &Join{Protocol: Protocol,
			Version: "7", Adopt: run}}
		p.refused(s, "adopting "+run, o, "it has no files of a run")
	}
}

// A host takes no more than it has.
func TestAHostSaysWhatItHasNot(t *testing.T) {
	url := controlPlane(t)
	serve(t, url, nil)
	p := joined(t, url, "a")
	for says, j := range map[string]Join{
		"of memory, and ":        {Version: "7", Nodes: 1 << 30},
		"and the disk of ":       {Version: "7", Disk: 1 << 60},
		"install the same on bo": {Version: "6"},
	} {
		run, err := NewRun(p.conn, "fresh")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Join(t.Context(), p.host.Description, j); err == nil ||
			!strings.Contains(err.Error(), "host a") || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v", j, err)
		}
		run.Close()
	}
}
