package study

import (
	"maps"
	"strings"
	"testing"
	"time"

	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/port"
)

// A program, or a client of a service, is tried under every kind of fault that its run can have.
func TestTriesHaveEveryFault(t *testing.T) {
	tried := map[*effect.Kind]bool{}
	for _, service := range []string{"", "etcd"} {
		for _, promises := range []string{"live=no-crash,leaves", "elects,grace=1s"} {
			c := nodes.Config{N: 3}.With(foreign.CommandOption, "true").With(foreign.PromisesOption, promises).
				With(foreign.KindsOption, "request,token:token")
			subject := &ServiceSubject{Config: c}
			if service != "" {
				subject.Config = c.With(foreign.ServiceOption, service)
				subject.Granted = time.Second
				subject.Servers = chaos.Servers{Service: service, Count: 3, Leads: true, Promotes: true, Peers: true,
					Deletes: true, Queues: true, Expires: true}
			}
			var err error
			if subject.Spec, err = foreign.Algorithm(subject.Config); err != nil {
				t.Fatal(err)
			}
			try := Try{Program: subject}
			if err := try.Resolve(nil); err != nil {
				t.Fatal(err)
			}
			for _, x := range try.Cases {
				for _, f := range x.Plan.Faults {
					tried[effect.KindOf(f.Effect)] = true
				}
			}
			if takes := try.Takes(); takes > TryLimit/2 {
				t.Errorf("%q, %s: it takes about %v", service, promises, takes)
			}
		}
	}
	for _, k := range effect.Kinds {
		if !tried[k] && k.Role != port.Host {
			t.Errorf("no program is tried under %s of a %v", k.Key, k.Role)
		}
	}
}

// A case is outside the model of a program if its faults break an assumption of safety. Resolve lists only
// the cases that it is asked for.
func TestTryKnowsTheModel(t *testing.T) {
	for promises, want := range map[string]map[string]bool{
		"safe=no-duplication": {"think, 2 nodes": false, "think, 3 nodes": false, "think, 4 nodes": false,
			"think, 9 nodes": false, "dead-idle": false, "copies": true, "lag: 0, by: 50ms, for: 1s": false},
		"elects,safe=no-loss,live=timing":  {"lossy-election": false, "dead-leader": false},
		"elects,safe=no-loss,live=no-loss": {"lossy-election": true, "dead-leader": false},
	} {
		c := nodes.Config{N: 3}.With(foreign.CommandOption, "true").With(foreign.PromisesOption, promises)
		spec, err := foreign.Algorithm(c)
		if err != nil {
			t.Fatal(err)
		}
		var only []string
		for name := range want {
			name, _, _ = strings.Cut(name, ",")
			only = append(only, name)
		}
		try, got := Try{Program: &ServiceSubject{Spec: spec, Config: c}}, map[string]bool{}
		if err := try.Resolve(only); err != nil {
			t.Fatal(err)
		}
		for _, x := range try.Cases {
			got[x.Text()] = x.Outside
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: outside the model are %v, not %v", promises, got, want)
		}
	}
}
