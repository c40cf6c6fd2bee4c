// Command services-lease has the election of Kubernetes' client-go, on records in etcd. It is in a module of
// its own, since it takes minutes to build.
package main

import (
	"os"

	"turnstile/bench/service"
	"turnstile/internal/terminal"
)

// table lists the services.
var table = []*service.Service{&lease}

func main() {
	t := service.Table{Services: table, Self: []string{terminal.OwnPath()}}
	os.Exit(t.Call(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
