package natskv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"turnstile/bench/service"
	"turnstile/internal/secret"
)

// run runs a server until the context ends, or until the server serves no more keys.
func run(ctx context.Context, args []string) error {
	o, err := options(args)
	if err != nil {
		return err
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	defer s.Shutdown()
	for enabled := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(100 * time.Millisecond): // pause before the next look
		}
		switch is := s.JetStreamEnabled(); {
		case is:
			enabled = true
		case enabled:
			return fmt.Errorf("the server has turned JetStream off, as it does if it cannot write to %s: is the disk "+
				"full?", o.StoreDir)
		}
	}
}

// unreachable is the address that servers advertise for each other. With a real address, a server that hears
// of another one would connect to it directly, past the proxy between them, and no fault would cut that
// connection.
const unreachable = "127.0.0.1:1"

// options returns the options of a server. The arguments are its name, its folder, whether it is durable, the
// folder of the secret, and for each server two addresses: for clients and for servers. The number in the
// server's name selects the server's own two addresses.
func options(args []string) (*server.Options, error) {
	if len(args) < 6 {
		return nil, errors.New("a server needs its name, its folder, durable, the folder of the secret, and two " +
			"addresses for each server")
	}
	own, err := secret.Read(args[3])
	if err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(strings.TrimPrefix(args[0], "n"))
	if err != nil {
		return nil, fmt.Errorf("the name %q: %w", args[0], err)
	}
	addresses := args[4:]
	o := &server.Options{ServerName: args[0], NoLog: true, NoSigs: true, JetStream: true, StoreDir: args[1],
		Authorization: own.Password, SyncAlways: args[2] == "on",
		JetStreamMaxMemory: 256 << 20, JetStreamMaxStore: 1 << 30}
	if o.Host, o.Port, err = split(addresses[2*number]); err != nil {
		return nil, err
	}
	if len(addresses) == 2 {
		return o, nil
	}
	o.Cluster = server.ClusterOpts{Name: "turnstile", NoAdvertise: true, PoolSize: -1, Advertise: unreachable,
		Username: secret.User, Password: own.Password}
	if o.Cluster.Host, o.Cluster.Port, err = split(addresses[2*number+1]); err != nil {
		return nil, err
	}
	for i := 1; i < len(addresses); i += 2 {
		if i != 2*number+1 {
			o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: addresses[i],
				User: url.UserPassword(secret.User, own.Password)})
		}
	}
	return o, nil
}

func split(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	return host, port, err
}

// dial connects to the given servers only, with the password that they demand.
func dial(addresses []string, password string, more ...nats.Option) (*nats.Conn, jetstream.JetStream, error) {
	options := append([]nats.Option{nats.DontRandomize(), nats.IgnoreDiscoveredServers(), nats.MaxReconnects(-1),
		nats.ReconnectWait(50 * time.Millisecond), nats.Timeout(time.Second),
		nats.Token(password)}, more...)
	conn, err := nats.Connect("nats://"+strings.Join(addresses, ",nats://"), options...)
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(conn)
	return conn, js, err
}

// ready returns nil if JetStream answers at a server. With several servers, JetStream answers only if there
// is a leader.
func ready(ctx context.Context, m *service.Member) error {
	conn, js, err := dial([]string{m.Address(0)}, m.Secret.Password)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	_, err = js.AccountInfo(ctx)
	return err
}

// leader returns the server that leads the stream of the bucket, or of the first if clients of the user's own
// have other buckets.
func leader(ctx context.Context, all []*service.Member) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var errs []error
	for _, m := range all {
		conn, js, err := dial([]string{m.Address(0)}, m.Secret.Password)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		defer conn.Close()
		stream, err := js.Stream(ctx, "KV_"+bucket)
		if errors.Is(err, jetstream.ErrStreamNotFound) { // clients of the user's own have made another
			for name := range js.StreamNames(ctx).Name() {
				stream, err = js.Stream(ctx, name)
				break
			}
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		c := stream.CachedInfo().Cluster
		if c == nil { // a single server leads itself
			return m.Number, nil
		}
		i, err := strconv.Atoi(strings.TrimPrefix(c.Leader, "n"))
		if err != nil {
			return -1, nil
		}
		return i, nil
	}
	return -1, errors.Join(errs...)
}

// deleteKey deletes the key of the lock, if the client holds it. Clients of the user's own may have it in any
// bucket, under any name.
func deleteKey(ctx context.Context, all []*service.Member, from service.Client) (had bool, err error) {
	var addresses []string
	for _, m := range all {
		addresses = append(addresses, m.Address(0))
	}
	conn, js, err := dial(addresses, all[0].Secret.Password)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	names := js.KeyValueStoreNames(ctx)
	for name := range names.Name() {
		one, failed := deleteIn(ctx, js, name, from.Name)
		had, err = had || one, errors.Join(err, failed)
	}
	return had, errors.Join(err, names.Error())
}

// deleteIn deletes the keys of a bucket whose value is the name of a client.
func deleteIn(ctx context.Context, js jetstream.JetStream, bucket, name string) (had bool, err error) {
	kv, err := js.KeyValue(ctx, bucket)
	if err != nil {
		return false, err
	}
	keys, err := kv.Keys(ctx)
	for _, key := range keys {
		e, failed := kv.Get(ctx, key)
		if failed == nil && string(e.Value()) == name {
			failed = kv.Delete(ctx, key, jetstream.LastRevision(e.Revision()))
			had = had || failed == nil
		}
		if !errors.Is(failed, jetstream.ErrKeyNotFound) && !errors.Is(failed, jetstream.ErrKeyRevisionMismatch) {
			err = errors.Join(err, failed)
		}
	}
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		err = nil
	}
	return had, err
}

// keyOf returns the key of the lock of clients whose names begin with a prefix.
func keyOf(prefix string) string { return strings.ReplaceAll(prefix, "/", ".") + "lock" }
