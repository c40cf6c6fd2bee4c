package zookeeper

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"os"
	"path/filepath"

	"github.com/go-zookeeper/zk"

	"turnstile/bench/service"
	"turnstile/internal/secret"
)

// credentials are the scheme and the text by which a client shows that it has a secret.
func credentials(of *secret.Secret) (scheme string, text []byte) {
	return "digest", []byte(secret.User + ":" + of.Password)
}

// closeRoot writes the snapshot that a server begins with: the root and the nodes below it that ZooKeeper
// makes itself, for clients with the secret alone. Otherwise all users of the machine could write there until
// a client has changed the access list.
func closeRoot(m *service.Member) error {
	dir := m.File("version-2")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "snapshot.0"), firstSnapshot(m.Secret), 0o600)
}

// firstSnapshot returns the snapshot of a tree that nobody has changed yet, in the format of ZooKeeper's
// FileSnap. Numbers are big-endian.
func firstSnapshot(of *secret.Secret) []byte {
	var b bytes.Buffer
	number := func(all ...any) {
		for _, n := range all {
			binary.Write(&b, binary.BigEndian, n) // to memory, which never fails
		}
	}
	text := func(s string) {
		number(int32(len(s)))
		b.WriteString(s)
	}
	b.WriteString("ZKSN")
	number(int32(2), int64(-1)) // version of the format, and database
	number(int32(0))            // sessions
	const list = int64(1)       // number of the only access list
	acl := zk.DigestACL(zk.PermAll, secret.User, of.Password)[0]
	number(int32(1), list, int32(1), acl.Perms)
	text(acl.Scheme)
	text(acl.ID)
	for _, path := range []string{"", "/zookeeper", "/zookeeper/quota"} {
		text(path)
		// No data, the access list, two transactions and two times, three versions, no owner, and the transaction
		// that changed the children.
		number(int32(0), list, [4]int64{}, [3]int32{}, [2]int64{})
	}
	text("/") // the end of the tree
	number(int64(adler32.Checksum(b.Bytes())))
	text("/") // the end of the snapshot
	return b.Bytes()
}
