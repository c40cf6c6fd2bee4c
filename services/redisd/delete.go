package redisd

import (
	"context"
	"crypto/rand"
	"errors"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"

	"turnstile/bench/service"
)

// Free is the script that deletes the key KEYS[1] if it has the value ARGV[1], and returns how many keys it
// deleted.
var Free = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('DEL', KEYS[1]) end return 0`)

// Label returns a random value for the key of a lock, which begins with the name of its holder.
func Label(name string) string { return name + " " + rand.Text() }

// Delete deletes the keys of a lock on all servers, if the client holds it.
func Delete(ctx context.Context, all []*service.Member, from service.Client) (had bool, err error) {
	for _, m := range all {
		one, failed := deleteAt(ctx, m, from)
		had, err = had || one, errors.Join(err, failed)
	}
	return had, err
}

func deleteAt(ctx context.Context, m *service.Member, from service.Client) (had bool, err error) {
	c := dial(m)
	defer c.Close()
	keys := c.Scan(ctx, 0, from.Prefix+"*", 0).Iterator()
	for keys.Next(ctx) {
		key := keys.Val()
		if left := c.PTTL(ctx, key).Val(); left <= 0 { // a counter, and no lock
			continue
		}
		value, err := c.Get(ctx, key).Result()
		if err != nil || !mayBe(value, from) {
			continue
		}
		count, err := Free.Run(ctx, c, []string{key}, value).Int()
		if err != nil {
			return had, err
		}
		had = had || count > 0
	}
	return had, keys.Err()
}

var aName = regexp.MustCompile(`^n\d+$`)

// mayBe reports whether a client has set a key to the value. Clients of the user's own may set values that
// name nobody: these are of the client that is inside.
func mayBe(value string, of service.Client) bool {
	by, _, _ := strings.Cut(value, " ")
	return by == of.Name || of.Inside && !aName.MatchString(by)
}
