package chaos

import (
	"strings"
	"testing"
)

func TestFaultsOfServersAreChecked(t *testing.T) {
	redlock := func(s *Scene) { s.Servers = Servers{Service: "redlock", Count: 3} }
	one := func(s *Scene) { s.Servers.Count = 1 }
	checkRefused(t, map[string]refusedFault{
		"kill: server 0": {func(s *Scene) { s.Servers = Servers{} },
			"line 3: kill server 0: this run has no servers: choose a service with --service"},
		"cut: holder/servers": {func(s *Scene) { s.Servers = Servers{} },
			"this run has no servers: choose a service with --service"},
		"promote: 0": {
			func(s *Scene) { s.Simulated = true }, "a simulation has no servers of a service"},
		"kill: server 3":         {nil, "there is no server 3: they are 0 to 2"},
		"cut: 0/server 1":        {one, "there is no server 1: there is one, and it is 0"},
		"cut: 7/servers":         {nil, "there is no node 7: they are 0 to 5"},
		"pause: server leader":   {redlock, "no server of redlock leads: name one by its number, as in 0"},
		"delete: lock of holder": {redlock, "no key of redlock is the lock of a client"},
		"delete: lock of waiter": {func(s *Scene) { s.Servers.Queues = false },
			"a client of etcd that waits has no key: write delete: lock of holder"},
		"expire: session of holder":       {redlock, "clients of redlock have no session that can be ended"},
		"delete: holder":                  {nil, `"holder" does not say whose it is: write lock of holder`},
		"delete: lock of server 0":        {nil, `"lock of server 0" does not say whose it is`},
		"expire: session of 9":            {nil, "there is no node 9: they are 0 to 5"},
		"expire: session of 0\nfor: 1s":   {nil, "an operator does this once and for good: leave out `for`"},
		"expire: session of 0\nevery: 1s": {nil, ""},
		"delete: lock of leader":          {nil, "central elects no leader: take holder"},
		"promote: 2":                      {redlock, "no server of redlock can be promoted"},
		"cut: server 0/servers": {
			redlock, "the servers of redlock do not talk to each other, or only Linux"},
		"cut: server 0/server 1":  {one, "there is one server, and no other to be cut off from"},
		"cut: server 0-2/servers": {nil, "that leaves no server to be cut off from"},
		"cut: servers/servers": {nil,
			`"servers/servers" is not a cut of servers or brokers: write holder/servers`},
		"cut: servers":                  {nil, "since it has one side"},
		"cut: server 0>server 1":        {nil, "since connections are cut both ways"},
		"cut: 0/server 0/server 1":      {nil, "clients on one side and servers on more"},
		"loss: 1%\nbetween: server 0/1": {nil, "between takes groups of nodes"},
		"kill: server holder": {
			nil, `"server holder" names no servers: write server 0, server 0-1 or server 0,2, each once, ` +
				"server leader or server of holder"},
		"promote: 0-1":                 {nil, `"0-1" names no server: write one number, as in 1`},
		"promote: 1\nfor: 1s":          {nil, "line 4: a promotion is permanent: leave out `for`"},
		"kill: server 0\nforget: true": {nil, "line 4: forget takes a restart: say after how long"},
		"drop-answer: 1": {
			nil, "say which one, counted from the beginning of the fault, as in nth: 1"},
		"drop-answer: 1\nnth: 1":  {nil, ""},
		"hold-request: 1\nnth: 1": {nil, "hold-request takes how long the request is held, as in by: 1s"},
		"hold-request: 1\nby: 1s": {nil, "say which one, counted from the beginning of the fault"},
		"hold-request: 1\nby: 1s\nnth: 1\nfor: 1s": {
			nil, "hits one message, which has no duration"},
		"kill: server 0\nclose: true": {nil, "kill of servers takes no close"},
		"cut: 0/servers\nclose: true": {nil, ""},
		"pause: server 0": {
			func(s *Scene) { s.Measured = 0 }, "this run ends by entries, and might never have them"},
	})
}

// Faults of the clocks of servers are checked, and servers as targets of keys that also take nodes.
func TestServersUnderKeysOfNodesAreChecked(t *testing.T) {
	checkRefused(t, map[string]refusedFault{
		"clock: server 0\nby: 3s": {func(s *Scene) { s.Servers.NoClock = "written in Go" },
			"the clocks of the servers of etcd cannot be set: written in Go"},
		"clock: server 0":                  {nil, "say which, as in by: 3s or by: -3s"},
		"clock: server 0\nby: 1s\nfor: 1s": {nil, "the clock of a server jumps once: leave out `for`"},
		"clock: server 0\nrate: 2":         {nil, "clock of servers takes no rate"},
		"kill: server 3":                   {nil, "there is no server 3: they are 0 to 2"},
		"lag: server 0\nby: 1s": {nil,
			"lag takes nodes: kill, pause and cut take brokers and servers"},
	})
}

// A refusedFault is what is said of a fault in a scene; empty: it is not refused.
type refusedFault struct {
	change func(*Scene)
	says   string
}

// checkRefused checks what is said of faults, which are written as in a plan.
func checkRefused(t *testing.T, faults map[string]refusedFault) {
	t.Helper()
	for text, test := range faults {
		lines := strings.ReplaceAll(text, "\n", "\n    ")
		p, err := ReadPlan("p", []byte("about: x\nfaults:\n  - "+lines+"\n"))
		if err == nil {
			s := scene(t, "central")
			s.Servers = Servers{Service: "etcd", Count: 3, Leads: true, Promotes: true, Peers: true,
				Deletes: true, Queues: true, Expires: true}
			if test.change != nil {
				test.change(s)
			}
			_, err = Resolve(p.Faults, s, 1)
		}
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: the error is %v, and should say %q", text, err, test.says)
		}
	}
}
