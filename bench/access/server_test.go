package access

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

const limit = 10 * time.Second // generous: the machine may be busy

// makeKeys makes a folder of keys for hosts a and b and the first user, to be served on this machine.
func makeKeys(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys")
	_, err := Make(dir, Request{Control: []string{"localhost"}, Hosts: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A journal is a log that a test reads while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// serve serves the control plane with a folder of keys, until the test ends.
func serve(t *testing.T, dir string) (*Server, *journal) {
	t.Helper()
	log := &journal{}
	s, err := Serve(ServerConfig{Listen: "127.0.0.1:0", Keys: dir, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, log
}

// A speaker is a client whose refusals a test reads.
type speaker struct {
	*nats.Conn
	refused chan error
}

// join connects with a key file.
func join(t *testing.T, s *Server, keyFile string) *speaker {
	t.Helper()
	p := &speaker{refused: make(chan error, 100)}
	conn, _, err := Connect(s.URL(), keyFile, nats.NoReconnect(),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { p.refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	p.Conn = conn
	return p
}

// joinAs connects with the key of that name.
func joinAs(t *testing.T, s *Server, name string) *speaker {
	t.Helper()
	return join(t, s, filepath.Join(s.config.Keys, name+keySuffix))
}

// allows wants the server to have refused nothing that the client has done so far.
func (p *speaker) allows(t *testing.T) {
	t.Helper()
	if err := p.FlushTimeout(limit); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.refused:
		t.Errorf("refused: %v", err)
	default:
	}
}

// refuses wants the server to refuse what the client has done last, and to name the subject.
func (p *speaker) refuses(t *testing.T, subject string) {
	t.Helper()
	select {
	case err := <-p.refused:
		if !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), `"`+subject+`"`) {
			t.Errorf("%s: %v", subject, err)
		}
	case <-time.After(limit):
		t.Errorf("%s is not refused", subject)
	}
}

// Agents and orchestrators may use the subjects that their work needs.
func TestHostsAndUsersSpeak(t *testing.T) {
	s, log := serve(t, makeKeys(t))
	a, me := joinAs(t, s, "a"), joinAs(t, s, "me")

	service, err := micro.AddService(a.Conn, micro.Config{Name: Service, Version: "1.0.0",
		QueueGroupDisabled: true})
	if err != nil {
		t.Fatal(err)
	}
	err = service.AddEndpoint("order", micro.HandlerFunc(func(r micro.Request) { r.Respond([]byte("done")) }),
		micro.WithEndpointSubject("ts.host.a.order"))
	if err != nil {
		t.Fatal(err)
	}
	a.allows(t)
	for _, subject := range []string{"ts.host.a.order", "$SRV.PING", "$SRV.INFO." + Service,
		"$SRV.STATS." + Service + "." + service.Info().ID} {
		for range 2 { // an answer permits no more than the next one needs
			if _, err := me.Request(subject, nil, limit); err != nil {
				t.Errorf("%s: %v", subject, err)
			}
		}
	}
	if _, err := joinAs(t, s, "control").Request("$SRV.PING."+Service, nil, limit); err != nil {
		t.Errorf("control asks who is there: %v", err)
	}

	events, err := me.SubscribeSync("ts.run.r1.>")
	if err != nil {
		t.Fatal(err)
	}
	me.allows(t)
	if err := a.Publish("ts.run.r1.a", []byte("event")); err != nil {
		t.Fatal(err)
	}
	if m, err := events.NextMsg(limit); err != nil || string(m.Data) != "event" {
		t.Errorf("an event comes as %v, %v", m, err)
	}
	if _, err := a.Request("ts.run.r2.alive", nil, limit); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("of a run without an orchestrator it is said: %v", err)
	}
	go func() {
		if m, err := events.NextMsg(limit); err == nil {
			m.Respond(nil)
		}
	}()
	if _, err := a.Request("ts.run.r1.alive", nil, limit); err != nil {
		t.Errorf("the orchestrator of the run: %v", err)
	}
	a.allows(t)
	me.allows(t)
	if log.String() != "" {
		t.Errorf("it logs:\n%s", log)
	}
}

// A key allows the subjects of its role and name, and no others.
func TestKeysDoNothingElse(t *testing.T) {
	s, log := serve(t, makeKeys(t))
	b := joinAs(t, s, "b")
	heard, err := b.SubscribeSync("ts.host.b.>")
	if err != nil {
		t.Fatal(err)
	}
	b.allows(t)
	for name, does := range map[string]struct{ publish, subscribe string }{
		"a": {"ts.host.b.order ts.host.a.order ts.run.r1.b ts.run.r1.a.b ts.run.a _INBOX_h_b.x _INBOX_u_me.x " +
			"_INBOX.x $SRV.PING $SYS.REQ.SERVER.PING x",
			"ts.host.b.order ts.host.b.> ts.host.> ts.host.*.order > ts.run.> ts.run.r1.alive _INBOX_h_b.> " +
				"_INBOX_u_me.> _INBOX.> _INBOX_h_*.> $SRV.> $SRV.PING.other $SYS.>"},
		"me": {"ts.run.r1.a ts.run.r1.alive _INBOX_h_a.x ts.host.a x $SYS.REQ.SERVER.PING $JS.API.INFO",
			"ts.host.a.order ts.host.> > _INBOX_h_a.> _INBOX.> $SRV.PING"},
		"control": {"ts.host.a.order ts.run.r1.a _INBOX_u_me.x", "ts.host.a.order ts.run.> > _INBOX_u_me.>"},
	} {
		p := joinAs(t, s, name)
		for _, subject := range strings.Fields(does.publish) {
			if err := p.PublishRequest(subject, "ts.host.b.order", []byte("order")); err != nil {
				t.Fatal(err)
			}
			p.refuses(t, subject)
		}
		for _, subject := range strings.Fields(does.subscribe) {
			if _, err := p.SubscribeSync(subject); err != nil {
				t.Fatal(err)
			}
			p.refuses(t, subject)
		}
	}
	b.allows(t) // what came for it has come
	if n, _, _ := heard.Pending(); n > 0 {
		t.Errorf("host b has heard %d messages", n)
	}
	if want := `host a - Publish Violation - Subject "ts.host.b.order"`; !strings.Contains(log.String(), want) {
		t.Errorf("no %s in the log:\n%s", want, log)
	}
}

// A host answers what it was asked, and not what others were.
func TestNobodyAnswersForAnother(t *testing.T) {
	s, _ := serve(t, makeKeys(t))
	a, b, me := joinAs(t, s, "a"), joinAs(t, s, "b"), joinAs(t, s, "me")
	asked, err := b.SubscribeSync("ts.host.b.order")
	if err != nil {
		t.Fatal(err)
	}
	b.allows(t)
	answers, err := me.SubscribeSync(me.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	if err := me.PublishRequest("ts.host.b.order", answers.Subject, nil); err != nil {
		t.Fatal(err)
	}
	m, err := asked.NextMsg(limit)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Publish(m.Reply, []byte("forged")); err != nil {
		t.Fatal(err)
	}
	a.refuses(t, m.Reply)
	if err := m.Respond([]byte("genuine")); err != nil {
		t.Fatal(err)
	}
	if got, err := answers.NextMsg(limit); err != nil || string(got.Data) != "genuine" {
		t.Errorf("the answer is %v, %v", got, err)
	}
	for range AnswerCount { // one too many
		if err := m.Respond(nil); err != nil {
			t.Fatal(err)
		}
	}
	b.refuses(t, m.Reply)
}

// The server accepts new keys while it runs, keeps its clients, and disconnects those whose keys are revoked.
func TestKeysAreAddedAndRevokedWhileItServes(t *testing.T) {
	dir := makeKeys(t)
	s, log := serve(t, dir)
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan struct{})
	go func() { defer close(ran); s.Run(ctx, time.Millisecond) }()
	t.Cleanup(func() { stop(); <-ran })
	a, b := joinAs(t, s, "a"), joinAs(t, s, "b")
	_, err := Make(dir, Request{Hosts: []string{"c"}, Users: []string{"you"}, Revoke: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(limit); !b.IsClosed(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the connection of a revoked key stays")
		}
	}
	joinAs(t, s, "c")
	joinAs(t, s, "you")
	if !a.IsConnected() {
		t.Error("a connection ended when keys were added")
	}
	a.allows(t)
	if want := "the keys have changed: 2 hosts (a, c) and 2 users (me, you) may connect"; !logged(log, want) {
		t.Errorf("no %q in the log:\n%s", want, log)
	}
}

// logged reports whether a text comes into a log.
func logged(log *journal, text string) bool {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if strings.Contains(log.String(), text) {
			return true
		}
	}
	return false
}

// A folder that cannot be read changes nothing, and is said once. A renewed certificate is used at once.
func TestRefresh(t *testing.T) {
	dir := makeKeys(t)
	s, _ := serve(t, dir)
	if changed, err := s.Refresh(); changed || err != nil {
		t.Errorf("nothing has changed, and it says %v, %v", changed, err)
	}
	good := read(t, filepath.Join(dir, allowedFile))
	write := func(text string) { overwrite(t, filepath.Join(dir, allowedFile), text) }
	write("hosts: [a]\n")
	if _, err := s.Refresh(); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("it takes a list that is none: %v", err)
	}
	if _, err := s.Refresh(); err != nil {
		t.Errorf("it says twice: %v", err)
	}
	joinAs(t, s, "a")
	write(good)
	if _, err := Make(dir, Request{Control: []string{"elsewhere", "localhost"}, Renew: true}); err != nil {
		t.Fatal(err)
	}
	if changed, err := s.Refresh(); !changed || err != nil {
		t.Errorf("the certificate is new, and it says %v, %v", changed, err)
	}
	if conn := joinAs(t, s, "a"); conn.ConnectedUrl() == "" {
		t.Error("no connection")
	}
	if names := s.certificate.Load().Leaf.DNSNames; names[0] != "elsewhere" {
		t.Errorf("it serves with a certificate for %v", names)
	}
}

// Many connections that say nothing, nonsense before it and large messages leave the server able to serve.
func TestFlood(t *testing.T) {
	s, log := serve(t, makeKeys(t))
	var strangers []net.Conn
	for i := range 200 {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		strangers = append(strangers, c)
		if i%2 == 0 {
			fmt.Fprintf(c, "CONNECT {}\r\nPUB ts.host.a.order %d\r\n%s", 1<<30, strings.Repeat("x", 10_000))
		}
	}
	a := joinAs(t, s, "a")
	if err := a.Publish("ts.run.r1.a", make([]byte, MaxPayload+1)); !errors.Is(err, nats.ErrMaxPayload) {
		t.Errorf("a large message: %v", err)
	}
	block := make([]byte, 64<<10)
	for i := range 500 {
		if err := a.Publish("ts.run.r1.a", block); err != nil {
			t.Fatal(err)
		}
		a.Publish("ts.host.b.order", nil)
		if i%100 == 0 {
			a.FlushTimeout(limit)
		}
	}
	b, me := joinAs(t, s, "b"), joinAs(t, s, "me")
	if _, err := b.Subscribe("ts.host.b.order", func(m *nats.Msg) { m.Respond(nil) }); err != nil {
		t.Fatal(err)
	}
	b.allows(t)
	if _, err := me.Request("ts.host.b.order", nil, limit); err != nil {
		t.Errorf("after the flood: %v", err)
	}
	if n := strings.Count(log.String(), "\n"); n == 0 || n > 10*linesPerSecond {
		t.Errorf("it logs %d lines", n)
	}
	for _, c := range strangers[:2] { // the first talks before it speaks TLS
		c.SetDeadline(time.Now().Add(limit))
	}
	if err := tls.Client(strangers[0], &tls.Config{InsecureSkipVerify: true}).Handshake(); err == nil {
		t.Error("nonsense was taken for TLS")
	}
}
