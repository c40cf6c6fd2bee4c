package study

import (
	"slices"
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
		for _, promises := range []string{"live=no-crash", "elects,grace=1s"} {
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

// What breaks an assumption of safety is outside the model, and of the cases only those asked for are kept.
func TestTryKnowsTheModel(t *testing.T) {
	c := nodes.Config{N: 3}.With(foreign.CommandOption, "true").With(foreign.PromisesOption,
		"safe=no-duplication")
	spec, err := foreign.Algorithm(c)
	if err != nil {
		t.Fatal(err)
	}
	try := Try{Program: &ServiceSubject{Spec: spec, Config: c}}
	if err := try.Resolve([]string{"copies", "think", "lag: 0", "dead-idle"}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range try.Cases {
		names = append(names, x.Text())
		if x.Outside != (x.Name == "copies") {
			t.Errorf("%s: outside the model: %v", x.Text(), x.Outside)
		}
	}
	want := []string{"think, 2 nodes", "think, 3 nodes", "think, 4 nodes", "think, 9 nodes", "dead-idle",
		"copies", "lag: 0, by: 50ms, for: 1s"}
	if !slices.Equal(names, want) {
		t.Errorf("the cases are %q, not %q", names, want)
	}
}
