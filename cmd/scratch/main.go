package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"turnstile/bench"
	"turnstile/bench/cluster"
)

func main() {
	if os.Args[1] == "broker" {
		fmt.Fprintln(os.Stderr, cluster.ServeBroker(os.Stdin, os.Stdout))
		return
	}
	s := bench.Setup{Results: "/tmp/results", Set: "x", Node: "/tmp/node", Broker: []string{os.Args[0], "broker"}}
	if os.Args[1] == "overhead" {
		for _, a := range []string{"token-ring", "ricart-agrawala"} {
			r, err := bench.Overhead(context.Background(), bench.OverheadOptions{Algorithm: a, Nodes: 32, Pairs: 3, Warmup: 500 * time.Millisecond, Duration: 2 * time.Second, Seed: 1}, s, func(i int, p bench.Pair) { fmt.Println(a, i, p, p.Ratio()) })
			fmt.Println(r, err)
		}
		return
	}
	o := bench.Defaults()
	o.Algorithm = os.Args[1]
	o.Config.N, _ = strconv.Atoi(os.Args[2])
	if len(os.Args) > 3 {
		o.Workload.Hold.Set(os.Args[3])
	}
	if len(os.Args) > 4 {
		o.Latency.Set(os.Args[4])
	}
	r, err := bench.Make(context.Background(), o, s)
	fmt.Println("err", err)
	if r != nil {
		for _, t := range r.Trials {
			fmt.Println(t.VerdictText())
			m := t.Measures
			fmt.Println("entries/s", m.EntriesPerS, "per entry", m.Messages.PerEntry, "wait", m.Wait.MicrosAt(.5), m.Wait.MicrosAt(.99), "hold", m.Hold.MicrosAt(.5), m.Hold.MicrosAt(.99), "late", m.TimerLateUS, "cpu", m.CPUBusy, m.BrokerCPU, "rss", m.NodeRSSMB, "ready", m.ReadyMS)
		}
	}
}
