// Package postgres has two locks of PostgreSQL: an advisory lock, which belongs to one connection, and a row
// of a table. It also has the servers of PostgreSQL.
package postgres

import (
	"errors"
	"fmt"
	"time"

	"turnstile/bench/service"
)

// Service is the service that uses an advisory lock of a session.
var Service = service.Service{
	Name:    "postgres",
	Summary: "pg_advisory_lock on one connection to PostgreSQL; pgx",
	Promise: "Once acquired at session level, an advisory lock is held until explicitly released or the " +
		"session ends.",
	Link: "https://www.postgresql.org/docs/15/explicit-locking.html#ADVISORY-LOCKS",
	Options: append([]service.Option{
		service.Switch("fence", "off", "a fencing token by nextval of a sequence, once it has the lock"),
		{Name: "watch", Default: "off", Usage: "how a holder hears that its connection is lost: off, when it " +
			"releases; read, when the connection is closed; ping, also when no answer comes",
			Values: []string{"off", "read", "ping"}},
		{Name: "every", Default: "500ms", Usage: "how often watch=ping asks, and how long it waits for the answer",
			Check: service.Length(10*time.Millisecond, time.Hour), Drawn: []string{"100ms", "333ms"}},
		service.Failed("ends: after a query that failed while it held the lock, the client ends its session; " +
			"kept: it goes on with the session, which may still hold the lock"),
		service.Switch("keepalives", "off", "the server ends a connection whose other end is silent for "+
			"3 s, by tcp_keepalives_* and tcp_user_timeout; off: the system's, 2 hours. Proxies answer them").
			InCommon(),
		{Name: "idle", Default: "off", Usage: "idle_session_timeout: the server ends a session after so long " +
			"without a query; with watch=ping the lock is then a lease; off: never", Check: idle, Common: true,
			Drawn: []string{off, "700ms", "1500ms", "2s"}},
		{Name: "timeout", Default: "5s",
			Usage: "time within which the server has to answer, except for the wait for the lock",
			Check: service.Length(10*time.Millisecond, time.Hour), Drawn: []string{"400ms", "1s"}},
		{Name: "wait", Default: "1m", Usage: "time after which a waiting client reconnects and asks again",
			Check: service.Length(10*time.Millisecond, time.Hour), Drawn: []string{"900ms", "3s"}},
	}, ofServers...),
	Servers: &servers,
	Expire:  expire,
	Granted: idleLimit,
	Holds: func(v service.Values) time.Duration {
		if v["watch"] == "ping" {
			return 0
		}
		return idleLimit(v)
	},
	Check: func(v service.Values) error {
		if limit := idleLimit(v); limit > 0 && v["watch"] == "ping" && limit < 2*v.Duration("every") {
			return fmt.Errorf("idle=%v may end a session before its holder has missed the answer to a ping: write "+
				"every= at most half of that, not %s", limit, v["every"])
		}
		return checkServers(v)
	},
	Declare: declare,
	Library: func(service.Values) string { return service.Module("github.com/jackc/pgx/v5") },
	Open:    service.Opens(open),
}

// declare returns what the documentation promises: the lock belongs to the session, which ends with the
// connection or the server, "even if the client disconnects ungracefully". The sequence survives as far as
// the server has written it to disk; a promoted standby has the data that it was sent, and no locks. While a
// holder is suspended, no other client enters.
func declare(v service.Values) service.Declaration {
	d := service.Declaration{Safe: []string{"no-loss", "servers-up", "no-amnesia"},
		Live:   []string{"no-loss", "no-pause", "servers-up"},
		Fenced: v.On("fence"), Cancels: true, GraceMS: 4000}
	if limit := idleLimit(v); limit > 0 {
		d.Safe = append(d.Safe, "no-pause", "timing")
		d.GraceMS += float64(limit / time.Millisecond)
	}
	return d
}

// ofServers are the options that decide which servers there are.
var ofServers = []service.Option{
	service.Switch("standby", off, "server 1 is a standby of server 0 that gets its data as they are "+
		"written, for promote; clients use the one that takes writes").InCommon(),
	{Name: "lag", Default: "0s", Usage: "how much later the standby hears of a write", Common: true,
		Check: service.Length(0, 2*time.Second), Drawn: []string{"0s", "300ms", "500ms"}},
	{Name: "pooler", Default: off, Usage: "server 1 is PgBouncer between clients and server 0; it gives a " +
		"client a connection of its own for a session, or for each transaction anew",
		Values: []string{off, "session", "transaction"}, Common: true},
	service.Switch("durable", "off", "fsync: the server writes to disk before it answers").InCommon(),
}

// checkServers returns an error if these options contradict each other.
func checkServers(v service.Values) error {
	switch standby := v.On("standby"); {
	case !standby && v.Duration("lag") > 0:
		return errors.New("lag needs a standby: add standby=on")
	case idleLimit(v) > 0 && idleLimit(v) <= v.Duration("lag"):
		return fmt.Errorf("idle=%v ends the session of the standby, which hears of its primary after lag=%s: "+
			"write idle= longer than lag", idleLimit(v), v["lag"])
	case standby && v["pooler"] != off:
		return errors.New("server 1 cannot be a standby and PgBouncer: leave out standby or pooler")
	}
	return nil
}

// off is the value of an option that is turned off.
const off = "off"

func idle(value string) error {
	if value == off {
		return nil
	}
	if err := service.Length(10*time.Millisecond, time.Hour)(value); err != nil {
		return fmt.Errorf("%w; or write off", err)
	}
	return nil
}

// idleLimit returns how long a session may be idle; 0: for ever.
func idleLimit(v service.Values) time.Duration {
	if limit, is := v["idle"]; !is || limit == off {
		return 0
	}
	return v.Duration("idle")
}
