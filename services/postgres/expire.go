package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"turnstile/bench/service"
)

// expire terminates the sessions of a client, which are known by the name of its application.
func expire(ctx context.Context, all []*service.Member, from service.Client) (had bool, err error) {
	for _, m := range all {
		if m.Number > 0 && !m.Values.On("standby") { // PgBouncer
			continue
		}
		failed := ask(ctx, m, func(c *pgx.Conn) error {
			ended := 0
			err := c.QueryRow(ctx, "select count(pg_terminate_backend(pid)) from pg_stat_activity "+
				"where application_name = $1 and pid <> pg_backend_pid()", from.Name).Scan(&ended)
			had = had || ended > 0
			return err
		})
		err = errors.Join(err, failed)
	}
	return had, err
}
