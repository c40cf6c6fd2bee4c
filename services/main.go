// Command services has the clients and servers of widely used locks and elections: see docs/services.md. It
// is a separate module, so that the testbed does not depend on their libraries.
package main

import (
	"os"

	"turnstile/bench/service"
	"turnstile/internal/terminal"
	"turnstile/services/etcd"
	"turnstile/services/postgres"
	"turnstile/services/raft"
	"turnstile/services/redis"
	"turnstile/services/redlock"
	"turnstile/services/zookeeper"
)

// table lists the services.
var table = []*service.Service{&redis.Service, &redlock.Service, &postgres.Service, &postgres.Table,
	&zookeeper.Service, &zookeeper.Latch, &etcd.Lock, &etcd.Election, &raft.Service}

func main() {
	t := service.Table{Services: table, Self: []string{terminal.OwnPath()}}
	os.Exit(t.Call(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
