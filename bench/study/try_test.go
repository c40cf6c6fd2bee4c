package study

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"turnstile/bench"
	"turnstile/chaos"
	"turnstile/chaos/effect"
	"turnstile/judge/check"
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
			long := 0
			for _, x := range try.Cases {
				if x.Long {
					long++
					o := x.Options(1)
					end := o.Warmup + o.Faults[0].At + o.Faults[0].For + subject.Servers.Recovers + subject.Granted
					if hold := o.Workload.Hold.Mean(); hold < end || o.Duration <= hold {
						t.Errorf("%s, %s: a holder is inside for %v of %v, and not until %v", service, x.Text(), hold,
							o.Duration, end)
					}
				}
				for _, f := range x.Plan.Faults {
					tried[effect.KindOf(f.Effect)] = true
				}
			}
			if want := len(studyOf(subject.Spec).outlasted); service != "" && long != want {
				t.Errorf("%s, %s: %d faults meet long holds, not %d", service, promises, long, want)
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

// A violation that no run alone has confirmed is in doubt, also if there was no time for such a run.
func TestUnconfirmedIsInDoubt(t *testing.T) {
	c := nodes.Config{N: 3}.With(foreign.CommandOption, "true").With(foreign.PromisesOption, "safe=timing")
	spec, err := foreign.Algorithm(c)
	if err != nil {
		t.Fatal(err)
	}
	broken := check.Finding{Check: "exclusion", Outcome: check.Violated, Says: "two inside"}
	x := &TryCase{Cell: &Cell{Spec: spec}}
	x.Runs = []*Result{{Job: &bench.Job{Spec: spec}, Wrong: "it is violated",
		Verdict: check.Verdict{Outcome: check.Violated, Findings: []check.Finding{broken}}}}
	try := Try{Program: &ServiceSubject{Spec: spec, Config: c}, Cases: []*TryCase{x}}
	ended, end := context.WithCancel(t.Context())
	end()
	try.confirm(ended)
	if x.Broken() || !strings.Contains(x.Unjudged(), "two inside") {
		t.Errorf("broken %v, not judged since %q", x.Broken(), x.Unjudged())
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
