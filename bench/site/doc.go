// Package site has the infrastructure of a run of real processes: the hosts that its processes are started
// on, its brokers, the proxies in front of these, the servers of a service, and the shared resource. It is
// built once, before the first trial. A part that a run does not have is a value that does nothing or returns
// an error, so callers need not check for it.
package site
