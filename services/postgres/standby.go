package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"turnstile/bench/service"
	"turnstile/internal/secret"
	"turnstile/services/lag"
)

// prepare fills the folder of a server: with an empty database or, for a standby, with a copy of the
// primary's database.
func prepare(ctx context.Context, m *service.Member) error {
	if m.Number == 0 {
		file, err := m.Write("password", m.Secret.Password)
		if err != nil {
			return err
		}
		return m.Run(ctx, beside(m.Program, "initdb"), "-D", data(m), "-U", secret.User, "-A", "scram-sha-256",
			"--pwfile", file, "--no-sync", "--no-locale", "-E", "UTF8")
	}
	passwords, err := m.Write("pgpass", "*:*:*:"+secret.User+":"+m.Secret.Password)
	if err != nil {
		return err
	}
	at, err := lag.Behind(m.All[0].Address(0), m.Values.Duration("lag"))
	if err != nil {
		return err
	}
	err = m.Run(ctx, beside(m.Program, "pg_basebackup"), "-d", conninfo(m.All[0].Address(0), passwords),
		"-D", data(m), "--checkpoint=fast", "--wal-method=stream", "--no-sync")
	if err != nil {
		return err
	}
	settings, err := os.OpenFile(filepath.Join(data(m), "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(settings, "primary_conninfo = '%s'\n",
		strings.ReplaceAll(conninfo(at, passwords), "'", "''"))
	return errors.Join(err, settings.Close(), os.WriteFile(filepath.Join(data(m), "standby.signal"), nil, 0o600))
}

// conninfo returns the address of a server, and the file with its password, in the syntax of PostgreSQL's
// programs.
func conninfo(at, passwords string) string {
	host, port, _ := net.SplitHostPort(at)
	return fmt.Sprintf("host=%s port=%s user=%s passfile='%s'", host, port, secret.User, passwords)
}

// ready returns an error unless a server answers and, if it is a standby whose primary is up, receives the
// data of the primary.
func ready(ctx context.Context, m *service.Member) error {
	return ask(ctx, m, func(c *pgx.Conn) (err error) {
		if m.Number == 0 {
			return nil
		}
		var follows, streams bool
		err = c.QueryRow(ctx, "select pg_is_in_recovery(), exists (select from pg_stat_wal_receiver "+
			"where status = 'streaming')").Scan(&follows, &streams)
		if err == nil && follows && !streams && primary(ctx, m.All[0]) {
			err = errors.New("it does not get the data of its primary yet")
		}
		return err
	})
}

// ask calls do with a connection to a server.
func ask(ctx context.Context, m *service.Member, do func(*pgx.Conn) error) error {
	c, err := pgx.Connect(ctx, address(m.Address(0), m.Secret.Password))
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.Close(ctx))
}

// primary reports whether a server takes writes, as far as the server knows. PgBouncer does not count, since
// it only forwards them.
func primary(ctx context.Context, m *service.Member) bool {
	if m.Number > 0 && !m.Values.On("standby") {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	follows := true
	err := ask(ctx, m, func(c *pgx.Conn) error {
		return c.QueryRow(ctx, "select pg_is_in_recovery()").Scan(&follows)
	})
	return err == nil && !follows
}

// promote makes a standby the primary. It waits until the standby is the primary.
func promote(ctx context.Context, m *service.Member) error {
	return ask(ctx, m, func(c *pgx.Conn) error {
		done := false
		err := c.QueryRow(ctx, "select pg_promote()").Scan(&done)
		if err == nil && !done {
			err = errors.New("the standby has not become a primary within a minute")
		}
		return err
	})
}
