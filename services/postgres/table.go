package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"turnstile/bench/service"
	"turnstile/bench/service/held"
	"turnstile/nodes/foreign/program"
)

// Table is the service that uses a row of a table by the rule of ShedLock 7: see its SqlStatementsSource,
// StorageBasedLockProvider and KeepAliveLockProvider.
var Table = service.Service{
	Name:    "postgres-table",
	Summary: "a row with the time until which the lock is held, by ShedLock's rule on PostgreSQL; pgx",
	Promise: "ShedLock makes sure that your scheduled tasks are executed at most once at the same time. [...] " +
		"the locks are time-based and ShedLock assumes that clocks on the nodes are synchronized.",
	Link: "https://github.com/lukas-krecan/ShedLock#readme",
	Options: append([]service.Option{
		{Name: "ttl", Default: "2s", Usage: "for how long a row is taken (lockAtMostFor)",
			Check: service.Length(10*time.Millisecond, time.Hour), Common: true, Drawn: []string{"700ms", "1s"}},
		{Name: "time", Default: "server", Values: []string{"server", clientTime}, Usage: "whose clock a row is " +
			"compared with and set by (usingDbTime): the server's, or that of the client's node"},
		service.Switch("renew", off, "after each half of ttl the holder extends its row, if it still has it, "+
			"and leaves if this fails or comes too late; ShedLock's KeepAliveLockProvider tells nobody"),
		{Name: "release", Default: "own", Values: []string{"own", "any"}, Usage: "own: a release frees the row " +
			"if it is still the client's; any: the row of any client, as ShedLock did by times of the client " +
			"before its pull request 2959"},
		service.Switch("cache", "on", "a client that has seen the row does not insert it again, as in ShedLock, "+
			"so nobody enters once the row is deleted; off: it inserts it each time"),
		service.Switch("fence", off, "a fencing token by nextval of a sequence, when the row is taken"),
		{Name: "retry", Default: "5ms", Usage: "pause between two tries for a row that is taken",
			Check: service.Length(100*time.Microsecond, time.Minute)},
		{Name: "timeout", Default: "5s", Usage: "time within which the server has to answer",
			Check: service.Length(10*time.Millisecond, time.Hour)},
	}, ofServers...),
	Servers: &servers,
	Settings: []service.Setting{
		{Name: "time=server", Default: "client", Why: "the documentation strongly recommends it"},
		{Name: "retry 5ms", Default: "none: who finds the row taken goes on without",
			Why: "clients wait for the lock"},
		{Name: "ttl 2s", Why: "faults of some seconds outlast it"}},
	Granted: func(v service.Values) time.Duration { return v.Duration("ttl") },
	Holds: func(v service.Values) time.Duration {
		if v.On("renew") {
			return 0
		}
		return v.Duration("ttl")
	},
	Check:   checkServers,
	Delete:  deleteRow,
	Declare: declareTable,
	Library: Service.Library,
	Open:    service.Opens(openTable),
	Client: func(v service.Values, d service.Declaration, in io.Reader, out io.Writer) error {
		c := newNodeClock(in, out)
		return program.ServeLock(c, c, d, true, func(ctx context.Context, s program.Init) (program.Lock, error) {
			t, err := openTable(ctx, s, v)
			t.clock = func(ctx context.Context) (time.Time, error) { return c.now(ctx, s.Name) }
			return t, err
		})
	},
}

// clientTime is the value of the option time for the clock of the client.
const clientTime = "client"

// declareTable returns what the documentation promises: "If the task takes longer than lockAtMostFor the
// resulting behavior may be unpredictable", and with times of the client, clocks have to agree. The row is
// where the server has written it; a promoted standby may not have it.
func declareTable(v service.Values) service.Declaration {
	d := service.Declaration{Safe: []string{"no-pause", "timing", "no-amnesia"},
		Live: []string{"no-loss", "servers-up"}, Fenced: v.On("fence"), Cancels: true,
		GraceMS: float64((v.Duration("ttl") + 4*time.Second) / time.Millisecond)}
	if v.On("standby") {
		d.Safe = append(d.Safe, "servers-up")
	}
	return d
}

// A table is one node's client of the service.
type table struct {
	session
	name  string // of its node
	clock func(context.Context) (time.Time, error)
	seen  bool // it knows that there is a row
	watch held.Watch

	insert, update, extend, free string // statements
}

// openTable creates the client of a node. Times of the client are those of this process.
func openTable(ctx context.Context, s program.Init, v service.Values) (*table, error) {
	t := &table{name: s.Name, clock: func(context.Context) (time.Time, error) { return time.Now(), nil }}
	name := nameOf(s.Options.Prefix)
	fences := pgx.Identifier{s.Options.Prefix + "fence"}.Sanitize()
	makes := "create table if not exists " + name + " (name text primary key, " +
		"lock_until timestamptz not null, locked_at timestamptz not null, locked_by text not null, " +
		"fence bigint not null);" + sequence(fences)
	fence := "0"
	if v.On("fence") {
		fence = next(fences)
	}
	// The parameters are the time by the clock of the client, or null, the ttl, and the name of the client.
	words := strings.NewReplacer("TABLE", name, "NOW", "coalesce($1::timestamptz, current_timestamp)",
		"UNTIL", "coalesce($1::timestamptz, current_timestamp) + make_interval(secs => $2)", "FENCE", fence)
	takes := "set lock_until = UNTIL, locked_at = NOW, locked_by = $3, fence = FENCE " +
		"where t.name = 'lock' and t.lock_until <= NOW returning fence"
	t.insert = words.Replace("insert into TABLE as t values ('lock', UNTIL, NOW, $3, FENCE) " +
		"on conflict (name) do update " + takes)
	t.update = words.Replace("update TABLE as t " + takes)
	t.extend = words.Replace("update TABLE set lock_until = UNTIL " +
		"where name = 'lock' and locked_by = $3 and lock_until > NOW returning fence")
	whose := "locked_by = $3"
	if v["release"] == "any" {
		whose = "$3::text is not null"
	}
	t.free = words.Replace("update TABLE set lock_until = UNTIL where name = 'lock' and " + whose +
		" returning fence")
	return t, t.open(ctx, s, v, makes)
}

// nameOf returns the quoted name of the table of clients whose names begin with prefix.
func nameOf(prefix string) string { return pgx.Identifier{prefix + "table"}.Sanitize() }

// run runs a statement that takes, extends or frees the row, which is held for ttl from now on. It returns
// the fence number of the row, and whether there was such a row.
func (t *table) run(ctx context.Context, statement string, ttl time.Duration) (fence uint64, has bool,
	err error) {
	limit := t.values.Duration("timeout")
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := t.connect(ctx); err != nil {
		return 0, false, err
	}
	var now *time.Time
	if t.values["time"] == clientTime {
		at, err := t.clock(ctx)
		if err != nil {
			return 0, false, fmt.Errorf("reading the clock: %w", err)
		}
		now = &at
	}
	// A statement that is cancelled may take the row all the same, and ends the connection.
	whole, stop := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer stop()
	err = t.conn.QueryRow(whole, statement, now, ttl.Seconds(), t.name).Scan(&fence)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, nil
	}
	return fence, err == nil, t.unmade(err)
}

// Acquire implements program.Lock. It polls, since no client waits at the server.
func (t *table) Acquire(ctx context.Context) (g program.Grant, err error) {
	ttl := t.values.Duration("ttl")
	for {
		sent, statement := time.Now(), t.insert
		if t.seen {
			statement = t.update
		}
		fence, took, err := t.run(ctx, statement, ttl)
		if err != nil {
			t.seen = t.seen && t.made
			return g, serious(err)
		}
		t.seen = t.values.On("cache")
		if took {
			if t.values.On("fence") {
				g.Fence = fence
			}
			g.Lost = t.tell(sent, ttl)
			return g, nil
		}
		select {
		case <-ctx.Done():
			return g, ctx.Err()
		case <-time.After(t.values.Duration("retry")):
		}
	}
}

// tell returns a channel that is closed when the holder's row could not be extended, or nil with renew=off.
func (t *table) tell(sent time.Time, ttl time.Duration) <-chan struct{} {
	if !t.values.On("renew") {
		return nil
	}
	return t.watch.Renew(sent.Add(ttl), ttl/2, func(ctx context.Context) (time.Time, error) {
		sent := time.Now()
		_, has, err := t.run(ctx, t.extend, ttl)
		if err == nil && !has {
			err = program.ErrLost
		}
		return sent.Add(ttl), err
	})
}

// Release implements program.Lock.
func (t *table) Release(ctx context.Context) error {
	t.watch.End()
	_, had, err := t.run(ctx, t.free, 0)
	if err != nil || !had {
		return errors.Join(program.ErrLost, err)
	}
	return nil
}

// Close implements program.Lock.
func (t *table) Close() error {
	t.watch.End()
	return t.session.Close()
}

// deleteRow deletes the row of a client that holds the lock.
func deleteRow(ctx context.Context, all []*service.Member, from service.Client) (had bool, err error) {
	for _, m := range all {
		if !primary(ctx, m) {
			continue
		}
		err := ask(ctx, m, func(c *pgx.Conn) error {
			done, err := c.Exec(ctx, "delete from "+nameOf(from.Prefix)+" where locked_by = $1 and "+
				"lock_until > current_timestamp", from.Name)
			had = had || done.RowsAffected() > 0
			return err
		})
		if err != nil {
			return had, err
		}
	}
	return had, nil
}
