package zookeeper

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"turnstile/bench/service"
)

// deleteNodes deletes the ephemeral ZooKeeper nodes of a client.
func deleteNodes(ctx context.Context, all []*service.Member, from service.Client) (bool, error) {
	return take(ctx, all, from, func(c *zk.Conn, path string, _ int64) error { return c.Delete(path, -1) })
}

// expireSessions closes the session of a client, if the session has an ephemeral node.
func expireSessions(ctx context.Context, all []*service.Member, from service.Client) (bool, error) {
	closed := map[int64]bool{}
	return take(ctx, all, from, func(_ *zk.Conn, _ string, session int64) (err error) {
		if closed[session] {
			return nil
		}
		for _, m := range all {
			if err = closeSession(ctx, m.Address(clients), session); err == nil {
				closed[session] = true
				return nil
			}
		}
		return err
	})
}

// take calls do with the ephemeral nodes of a client, and the sessions that they belong to. The data of such
// a node is the name of the client.
func take(ctx context.Context, all []*service.Member, from service.Client,
	do func(c *zk.Conn, path string, session int64) error) (had bool, err error) {
	var addresses []string
	for _, m := range all {
		addresses = append(addresses, m.Address(clients))
	}
	c, events, err := zk.Connect(addresses, maxSession, zk.WithLogInfo(false))
	if err != nil {
		return false, err
	}
	defer c.Close()
	for connected := false; !connected; {
		select {
		case e := <-events:
			connected = e.State == zk.StateHasSession
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	if err := c.AddAuth(credentials(all[0].Secret)); err != nil {
		return false, err
	}
	return walk(c, "/"+strings.Trim(from.Prefix, "/"), from.Name, do)
}

// walk calls do with the ephemeral nodes below a path that have some data.
func walk(c *zk.Conn, path, data string, do func(*zk.Conn, string, int64) error) (had bool, err error) {
	children, _, err := c.Children(path)
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	for _, child := range children {
		at := path + "/" + child
		has, stat, err := c.Get(at)
		switch {
		case err != nil: // it is gone
		case stat.EphemeralOwner != 0 && string(has) == data:
			if err := do(c, at, stat.EphemeralOwner); err != nil {
				return had, err
			}
			had = true
		case stat.NumChildren > 0:
			more, err := walk(c, at, data, do)
			if had = had || more; err != nil {
				return had, err
			}
		}
	}
	return had, err
}

// closeSession takes a session over on a connection of its own, and closes the session.
func closeSession(ctx context.Context, server string, session int64) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", server)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Second))
	password := passwordOf(session)
	// Protocol 0, the last transaction seen, the session timeout in ms, and who it is.
	call := binary.BigEndian.AppendUint32(nil, 0)
	call = binary.BigEndian.AppendUint64(call, 0)
	call = binary.BigEndian.AppendUint32(call, uint32(maxSession.Milliseconds()))
	call = binary.BigEndian.AppendUint64(call, uint64(session))
	call = binary.BigEndian.AppendUint32(call, uint32(len(password)))
	answer, err := exchange(c, append(call, password...))
	if err != nil {
		return err
	}
	// The answer has the protocol, the session timeout and the session, all zero if the server refuses it.
	if len(answer) < 16 || int64(binary.BigEndian.Uint64(answer[8:])) != session {
		return fmt.Errorf("the server %s does not know the session %#x", server, session)
	}
	const closes = -11 // number of the request
	call = binary.BigEndian.AppendUint32(nil, 1)
	closing := int32(closes)
	_, err = exchange(c, binary.BigEndian.AppendUint32(call, uint32(closing)))
	return err
}

// exchange sends a packet, and returns the packet that the server answers. Packets have their length in
// front.
func exchange(c net.Conn, packet []byte) ([]byte, error) {
	framed := append(binary.BigEndian.AppendUint32(nil, uint32(len(packet))), packet...)
	if _, err := c.Write(framed); err != nil {
		return nil, err
	}
	var length uint32
	if err := binary.Read(c, binary.BigEndian, &length); err != nil {
		return nil, err
	}
	answer := make([]byte, min(length, 1<<20))
	_, err := io.ReadFull(c, answer)
	return answer, err
}

// passwordOf returns the password that servers give a session: 16 bytes of java.util.Random, with the session
// and a constant of ZooKeeperServer as its seed.
func passwordOf(session int64) []byte {
	const constant, mask, factor = 0xB3415C00, 1<<48 - 1, 0x5DEECE66D
	seed := (uint64(session^constant) ^ factor) & mask
	password := make([]byte, 16)
	for i := 0; i < len(password); i += 4 {
		seed = (seed*factor + 0xB) & mask
		binary.LittleEndian.PutUint32(password[i:], uint32(seed>>16))
	}
	return password
}
