package bench

import (
	"errors"

	"turnstile/nodes/port"
)

// servers are those of the service that a run is about, which suffer faults.
type servers struct{}

var _ port.Servers = servers{}

var errNoServers = errors.New("this run has no servers: choose a service with --service")

// Servers, ServerUp, LeadingServer, KillServer, RestartServer, PauseServer, ResumeServer and PromoteServer
// implement port.Servers.
func (servers) Servers() int                  { return 0 }
func (servers) ServerUp(int) bool             { return false }
func (servers) LeadingServer() (int, error)   { return -1, errNoServers }
func (servers) KillServer(int) error          { return errNoServers }
func (servers) RestartServer(int, bool) error { return errNoServers }
func (servers) PauseServer(int) error         { return errNoServers }
func (servers) ResumeServer(int) error        { return errNoServers }
func (servers) PromoteServer(int) error       { return errNoServers }

// CutServers, HealServers, LoseAnswer and HealAnswer implement port.Servers.
func (servers) CutServers(int, port.ServerCut) error  { return errNoServers }
func (servers) HealServers(int) error                 { return errNoServers }
func (servers) LoseAnswer(int, port.LostAnswer) error { return errNoServers }
func (servers) HealAnswer(int) (uint64, error)        { return 0, errNoServers }
