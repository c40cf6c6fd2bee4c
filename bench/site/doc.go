// Package site is what a run of real processes is carried by: the hosts that its processes are started on,
// the brokers that pass messages on, proxies before these, the servers of a service, and what the clients
// share. It is built once, before the first trial. A part that a run does not have is a value that does
// nothing, or says why it cannot: nobody asks whether a part is there.
package site
