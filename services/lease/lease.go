package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/client-go/tools/leaderelection"

	"turnstile/bench/service"
	"turnstile/nodes/foreign/program"
	"turnstile/services/etcd"
)

// Options of the service.
const (
	leaseOption   = "lease"
	renewOption   = "renew"
	retryOption   = "retry"
	releaseOption = "release"
)

// length checks durations, which the library uses without rounding them.
var length = service.Length(10*time.Millisecond, time.Hour)

// lease is the service. Its times are one fifth of the defaults of Kubernetes.
var lease = service.Service{
	Name: "lease",
	Summary: "LeaderElector of Kubernetes' client-go on a record in etcd, where revisions stand for resource " +
		"versions; no API server",
	Promise: "This implementation does not guarantee that only one client is acting as a leader (a.k.a. " +
		"fencing). [...] Thus the implementation is tolerant to arbitrary clock skew, but is not tolerant to " +
		"arbitrary clock skew rate.",
	Link: "https://pkg.go.dev/k8s.io/client-go/tools/leaderelection",
	Options: []service.Option{
		{Name: leaseOption, Default: "3s", Check: length, Common: true,
			Drawn: []string{"900ms", "1s", "1900ms", "2s"},
			Usage: "time after which others take over if the record did not change; the record has whole seconds"},
		{Name: renewOption, Default: "2s", Check: length, Drawn: []string{"700ms", "990ms", "1800ms", "2900ms"},
			Usage: "for how long a leader tries to renew until it gives up (RenewDeadline)"},
		{Name: retryOption, Default: "400ms", Check: length, Drawn: []string{"100ms", "333ms"},
			Usage: "pause between two tries (RetryPeriod)"},
		service.Switch(releaseOption, "off",
			"a leader that resigns or gives up empties the record (ReleaseOnCancel)"),
		resign, etcd.Durable,
	},
	Servers: &etcd.Servers,
	Settings: []service.Setting{{Name: "lease 3s, renew 2s, retry 400ms", Default: "15s, 10s, 2s",
		Why: "faults of some seconds outlast it"}},
	Granted: func(v service.Values) time.Duration { return v.Duration(leaseOption) },
	Delete:  deleteRecord,
	Check:   check,
	Declare: func(v service.Values) service.Declaration {
		return service.Declaration{Safe: []string{"no-pause", "timing", "no-amnesia"},
			Live:   []string{"server-majority"},
			Elects: true, Terms: true, Leaves: true,
			GraceMS: float64((2*v.Duration(leaseOption) + 2*v.Duration(retryOption) + etcd.Recovers) /
				time.Millisecond)}
	},
	Library: func(service.Values) string { return service.Module("k8s.io/client-go") },
	Client: func(v service.Values, d service.Declaration, in io.Reader, out io.Writer) error {
		return program.ServeElector(in, out, d,
			func(ctx context.Context, s program.Init) (program.Elector, error) { return open(ctx, s, v) })
	},
}

// resign is the option of etcd-election. Hunts draw no short time: a leader would resign before all nodes
// have read the record.
var resign = func(o service.Option) service.Option {
	o.Drawn = []string{"0s", "4s"}
	return o
}(etcd.Resign)

// check lets the library check that the times suit each other.
func check(v service.Values) error {
	c := config(v)
	c.Lock = &record{identity: "check"}
	c.Callbacks = leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {},
		OnStoppedLeading: func() {}}
	_, err := leaderelection.NewLeaderElector(c)
	if err != nil {
		return fmt.Errorf("%w: leaseDuration is %s, renewDeadline %s and retryPeriod %s here, and JitterFactor %v",
			err, leaseOption, renewOption, retryOption, leaderelection.JitterFactor)
	}
	return nil
}

// config returns the part of the library's configuration that the options set.
func config(v service.Values) leaderelection.LeaderElectionConfig {
	return leaderelection.LeaderElectionConfig{LeaseDuration: v.Duration(leaseOption),
		RenewDeadline: v.Duration(renewOption), RetryPeriod: v.Duration(retryOption),
		ReleaseOnCancel: v.On(releaseOption), Name: "turnstile"}
}
