package foreign

import (
	"slices"
	"strings"
	"testing"

	"turnstile/nodes"
	"turnstile/nodes/algorithm"
)

// A stage is a node of three whose program is the test.
type stage struct {
	t    *testing.T
	node *nodes.Node
	effs []nodes.Effect
}

func newStage(t *testing.T, kinds, promises string) *stage {
	algo, err := Algorithm(nodes.Config{N: 3}.With(CommandOption, "x").With(KindsOption, kinds).
		With(PromisesOption, promises))
	if err != nil {
		t.Fatal(err)
	}
	c := nodes.Config{N: 3}.With(CommandOption, "x")
	stack, err := algorithm.Assemble(algorithm.Instance{Algorithm: algo, Config: c})
	if err != nil {
		t.Fatal(err)
	}
	return &stage{t: t, node: nodes.NewNode(stack.Stack, 1, 0, nil)}
}

// says has the program write a line with a body to somebody.
func (s *stage) says(dest, body string) {
	s.t.Helper()
	said, err := Read([]byte(`{"src":"n1","dest":"`+dest+`","body":`+body+`}`), 1)
	if err != nil {
		s.t.Fatal(err)
	}
	s.input(nodes.Input{Kind: nodes.Receive, From: 1, Message: &said})
}

func (s *stage) input(in nodes.Input) { s.effs = s.node.Handle(in) }

// heard returns what the program has been told, and what is wrong with it.
func (s *stage) heard() (string, string) {
	lines, wrong := s.node.Machine(0).(Bridge).Take()
	if wrong != nil {
		return string(lines), wrong.Error()
	}
	return string(lines), ""
}

// A step of a conversation: what happens, what the program is told then, and what the host is to do.
type step struct {
	dest, body string // a line of the program; if empty, the input in happens
	in         nodes.InputKind
	timer      nodes.Timer // the timer that runs out
	lingers    bool        // of Leave
	told       string      // part of what the program is told; empty: it is told nothing
	op, then   nodes.Op
	wrong      string // part of the error
}

func TestProtocol(t *testing.T) {
	ask := step{in: nodes.Request, told: `"body":{"type":"request","msg_id":2}`}
	enter := step{dest: "c0", body: `{"type":"entered","in_reply_to":2,"fence":7}`, op: nodes.OpGrant}
	const lock, elects = "safe=no-loss", "elects"
	for name, x := range map[string]struct {
		promises string
		steps    []step
	}{
		"entry": {lock, []step{ask, enter, {in: nodes.Release, told: `{"type":"release","msg_id":3}`},
			{dest: "c0", body: `{"type":"release_ok","in_reply_to":3}`}}},
		"a lock lost at release": {lock, []step{ask, enter, {in: nodes.Release, told: "release"},
			{dest: "c0", body: `{"type":"error","in_reply_to":3,"code":1000}`}}},
		"revoked": {lock, []step{ask, enter, {dest: "c0", body: `{"type":"revoked","in_reply_to":2}`,
			op: nodes.OpRevoke}}},
		"revoked too late": {lock, []step{ask, enter, {in: nodes.Release, told: "release"},
			{dest: "c0", body: `{"type":"revoked","in_reply_to":2}`}}},
		"revoked outside": {lock, []step{{dest: "c0", body: `{"type":"revoked"}`, wrong: "not inside"}}},
		"not now": {lock, []step{ask, {dest: "c0", body: `{"type":"error","in_reply_to":2,"code":11}`,
			op: nodes.OpRefuse, then: nodes.OpSetTimer}}},
		"refused": {lock, []step{ask, {dest: "c0", body: `{"type":"error","in_reply_to":2,"code":13,"text":"ouch"}`,
			wrong: "error 13: ouch"}}},
		"twice":   {lock, []step{ask, enter, {dest: enter.dest, body: enter.body, wrong: "granted twice"}}},
		"unasked": {lock, []step{{dest: enter.dest, body: enter.body, wrong: "entered unasked"}}},
		"of others": {lock, []step{ask,
			{dest: "c0", body: `{"type":"entered","in_reply_to":1}`, wrong: "unasked"}}},
		"of none": {lock, []step{ask, {dest: "c0", body: `{"type":"entered"}`, wrong: "without in_reply_to"}}},
		"no fence": {"fenced", []step{ask, {dest: "c0", body: `{"type":"entered","in_reply_to":2}`,
			wrong: "without a fence"}}},
		"elected by a lock": {lock, []step{{dest: "c0", body: `{"type":"elected"}`, wrong: "takes entered"}}},
		"entered by an elector": {elects, []step{{dest: "c0", body: `{"type":"entered"}`,
			wrong: "takes elected"}}},
		"elected": {elects, []step{{in: nodes.Campaign, told: `"campaign"`},
			{dest: "c0", body: `{"type":"elected","leader":"n2","term":4}`, op: nodes.OpElect},
			{dest: "c0", body: `{"type":"elected","leader":null}`, op: nodes.OpElect},
			{dest: "c0", body: `{"type":"elected","leader":"n3"}`, wrong: `"n3", which does not exist`}}},
		"detector": {"elects,detector", []step{{in: nodes.Suspect, told: `{"type":"down","node":"n0"}`},
			{in: nodes.Trust, told: `{"type":"up","node":"n0"}`}}},
		"no detector": {elects, []step{{in: nodes.Suspect}, {in: nodes.Trust}}},
		"messages": {lock, []step{{dest: "n2", body: `{"type":"ask","x":[1]}`, op: nodes.OpSend},
			{dest: "n1", body: `{"type":"note"}`, told: `{"src":"n1","dest":"n1","body":{"type":"note"}}`},
			{dest: "n3", body: `{"type":"ask"}`, wrong: "does not exist"}}},
		"services": {lock, []step{{dest: "seq-kv", body: `{"type":"read","msg_id":9}`,
			told: `"in_reply_to":9,"code":1`},
			{dest: "disk", body: `{"type":"read","msg_id":1,"key":"a"}`, told: `"code":20`},
			{dest: "disk", body: `{"type":"write","msg_id":2,"key":"a","value":{"b":1}}`, told: "write_ok",
				op: nodes.OpSave},
			{dest: "disk", body: `{"type":"read","msg_id":3,"key":"a"}`, told: `"value":{"b":1}`},
			{dest: "disk", body: `{"type":"forget"}`, op: nodes.OpSave},
			{dest: "disk", body: `{"type":"read","msg_id":4,"key":"a"}`, told: `"code":20`},
			{dest: "disk", body: `{"type":"read"}`, wrong: "without a key"}}},
		"timers": {lock, []step{{dest: "timer", body: `{"type":"set","id":"a","min_ms":1}`, op: nodes.OpSetTimer},
			{in: nodes.Timeout, told: `"body":{"type":"timer","id":"a"}`},
			{dest: "timer", body: `{"type":"set","id":"b","min_ms":5,"max_ms":1}`, wrong: "without a valid time"}}},
	} {
		converse(t, name, x.promises, x.steps)
	}
}

// A request that is cancelled ends by the answer of the program, which may be that it was granted before.
func TestCancelledRequests(t *testing.T) {
	ask := step{in: nodes.Request, told: `"body":{"type":"request","msg_id":2}`}
	enter := step{dest: "c0", body: `{"type":"entered","in_reply_to":2,"fence":7}`, op: nodes.OpGrant}
	for name, steps := range map[string][]step{
		"cancelled": {ask, {in: nodes.Cancel, told: `{"type":"cancel","in_reply_to":2}`},
			{dest: "c0", body: `{"type":"error","in_reply_to":2,"code":1001}`, op: nodes.OpGiveUp}},
		"cancelled too late": {ask, {in: nodes.Cancel, told: "cancel"}, enter},
		"cancelled and refused": {ask, {in: nodes.Cancel, told: "cancel"},
			{dest: "c0", body: `{"type":"error","in_reply_to":2,"code":11}`, op: nodes.OpGiveUp}},
		"refused and cancelled": {ask,
			{dest: "c0", body: `{"type":"error","in_reply_to":2,"code":11}`, op: nodes.OpRefuse,
				then: nodes.OpSetTimer},
			{in: nodes.Cancel, told: "cancel"},
			{in: nodes.Timeout, timer: nodes.Timer{Kind: again}, op: nodes.OpGiveUp}},
		"gave up uncalled": {ask,
			{dest: "c0", body: `{"type":"error","in_reply_to":2,"code":1001}`, wrong: "error 1001"}},
		"gave up, and entered": {ask, {in: nodes.Cancel, told: "cancel"},
			{dest: "c0", body: `{"type":"error","in_reply_to":2,"code":1001}`, op: nodes.OpGiveUp},
			{dest: "c0", body: `{"type":"entered","in_reply_to":2}`, wrong: "entered unasked"}},
	} {
		converse(t, name, "safe=no-loss", steps)
	}
}

// A program that is told to leave gives up what it has. Until it has answered, nothing else counts.
func TestLeaving(t *testing.T) {
	ask := step{in: nodes.Request, told: `"body":{"type":"request","msg_id":2}`}
	enter := step{dest: "c0", body: `{"type":"entered","in_reply_to":2,"fence":7}`, op: nodes.OpGrant}
	const lock, elects = "safe=no-loss", "elects"
	for name, x := range map[string]struct {
		promises string
		steps    []step
	}{
		"leaves idle": {lock, []step{{in: nodes.Leave, told: `{"type":"leave","msg_id":2}`},
			{dest: "c0", body: `{"type":"leave_ok","in_reply_to":2}`, op: nodes.OpLeft}}},
		"leaves while it waits": {lock, []step{ask, {in: nodes.Leave, told: `"leave"`},
			{dest: enter.dest, body: enter.body},
			{dest: "c0", body: `{"type":"leave_ok","in_reply_to":3}`, op: nodes.OpGiveUp, then: nodes.OpLeft}}},
		"leaves from inside": {lock, []step{ask, enter, {in: nodes.Leave},
			{in: nodes.Release, told: `{"type":"leave","msg_id":3}`},
			{dest: "c0", body: `{"type":"leave_ok","in_reply_to":3}`, op: nodes.OpLeft}}},
		"leaves and loses": {lock, []step{ask, enter, {in: nodes.Leave},
			{dest: "c0", body: `{"type":"revoked","in_reply_to":2}`, told: `"leave"`, op: nodes.OpRevoke}}},
		"leaves and lingers": {lock, []step{ask, enter, {in: nodes.Leave, lingers: true, told: `"leave"`},
			{dest: "c0", body: `{"type":"leave_ok","in_reply_to":3}`, op: nodes.OpLeft}, {in: nodes.Release}}},
		"cannot leave": {lock, []step{{in: nodes.Leave, told: `"leave"`},
			{dest: "c0", body: `{"type":"error","in_reply_to":2,"code":13,"text":"ouch"}`, wrong: "to leave: ouch"}}},
		"leads and leaves": {elects, []step{
			{dest: "c0", body: `{"type":"elected","leader":"n1","term":4}`, op: nodes.OpElect},
			{in: nodes.Leave, told: `"leave"`, op: nodes.OpElect},
			{dest: "c0", body: `{"type":"elected","leader":"n2","term":5}`},
			{dest: "c0", body: `{"type":"leave_ok","in_reply_to":2}`, op: nodes.OpLeft}}},
		"leads on": {elects, []step{
			{dest: "c0", body: `{"type":"elected","leader":"n1","term":4}`, op: nodes.OpElect},
			{in: nodes.Leave, lingers: true, told: `"leave"`},
			{dest: "c0", body: `{"type":"leave_ok","in_reply_to":2}`, op: nodes.OpLeft},
			{in: nodes.Leave, op: nodes.OpElect}}}, // it has lingered
	} {
		converse(t, name, x.promises, x.steps)
	}
}

// converse has a program and its node take the steps of a conversation.
func converse(t *testing.T, name, promises string, steps []step) {
	s := newStage(t, "ask:permit", promises)
	for i, step := range steps {
		switch {
		case step.in == nodes.Timeout:
			s.input(nodes.Input{Kind: step.in, Gen: 1, Timer: step.timer})
		case step.in != 0:
			s.input(nodes.Input{Kind: step.in, Lingers: step.lingers})
		default:
			s.says(step.dest, step.body)
		}
		told, wrong := s.heard()
		fits := strings.Contains(wrong, step.wrong) && (wrong == "") == (step.wrong == "")
		fits = fits && strings.Contains(told, step.told) && (told == "") == (step.told == "")
		var ops []nodes.Op
		for _, e := range s.effs {
			ops = append(ops, e.Op)
		}
		want := slices.DeleteFunc([]nodes.Op{step.op, step.then}, func(o nodes.Op) bool { return o == 0 })
		if !fits || !slices.Equal(ops, want) {
			t.Errorf("%s: step %d: told %q, wrong %q, effects %v", name, i, told, wrong, s.effs)
		}
	}
}

// Who follows nobody need not name the latest term.
func TestNobodyIsOfTheLatestTerm(t *testing.T) {
	s := newStage(t, "", "elects")
	for _, x := range []struct {
		body string
		term uint64
	}{{`"n2","term":4`, 4}, {"null", 4}, {`null,"term":5`, 5}, {`"n2"`, 0}} {
		s.says("c0", `{"type":"elected","leader":`+x.body+`}`)
		if e := s.effs[0]; e.Number != x.term {
			t.Errorf("%s: %+v", x.body, e)
		}
	}
}

// A program is told of a request only after it has answered the release before: a program with a thread for
// each line may take the two in either order. The report of a stall names an answer that does not come.
func TestRequestsFollowReleases(t *testing.T) {
	ask := step{in: nodes.Request, told: `"body":{"type":"request","msg_id":2}`}
	enter := step{dest: "c0", body: `{"type":"entered","in_reply_to":2}`, op: nodes.OpGrant}
	release := step{in: nodes.Release, told: `{"type":"release","msg_id":3}`}
	wants := step{in: nodes.Request}
	next := `"body":{"type":"request","msg_id":4}`
	for name, steps := range map[string][]step{
		"released": {ask, enter, release, wants, {dest: "c0", body: `{"type":"release_ok","in_reply_to":3}`,
			told: next}},
		"released before": {ask, enter, release, {dest: "c0", body: `{"type":"release_ok","in_reply_to":3}`},
			{in: nodes.Request, told: next}},
		"lost": {ask, enter, release, wants, {dest: "c0", body: `{"type":"error","in_reply_to":3,"code":1000}`,
			told: next}},
		"of another": {ask, enter, release, wants, {dest: "c0", body: `{"type":"release_ok","in_reply_to":2}`}},
		"enters first": {ask, enter, release, wants, {dest: "c0", body: `{"type":"entered","in_reply_to":2}`,
			wrong: "entered unasked"}},
		"revoked": {ask, enter, {dest: "c0", body: `{"type":"revoked","in_reply_to":2}`, op: nodes.OpRevoke},
			{in: nodes.Request, told: `"body":{"type":"request","msg_id":3}`}},
	} {
		converse(t, name, "safe=nothing", steps)
	}
	s := newStage(t, "ask:permit", "safe=nothing")
	s.input(nodes.Input{Kind: nodes.Request})
	s.says("c0", enter.body)
	s.input(nodes.Input{Kind: nodes.Release})
	s.input(nodes.Input{Kind: nodes.Request})
	const want = "its program has not answered release 3 with release_ok"
	if got := s.node.Machine(0).(nodes.Standing).Standing(); got != want {
		t.Errorf("it is said to stand so: %q, want %q", got, want)
	}
}

// A client that goes on hears once that its lock is lost, and its release still follows. A request that was
// refused is made again.
func TestWhatClientsHear(t *testing.T) {
	ask := step{in: nodes.Request, told: `"body":{"type":"request","msg_id":2}`}
	enter := step{dest: "c0", body: `{"type":"entered","in_reply_to":2}`, op: nodes.OpGrant}
	release := step{in: nodes.Release, told: `{"type":"release","msg_id":3}`}
	lost := step{dest: "c0", body: `{"type":"revoked","in_reply_to":2,"stays":true}`, op: nodes.OpTellLost}
	repeated, late, left := lost, lost, lost
	repeated.op, late.op, left.op = 0, 0, nodes.OpRevoke
	left.body = `{"type":"revoked","in_reply_to":2}`
	refuse := step{dest: "c0", body: `{"type":"error","in_reply_to":2,"code":0}`, op: nodes.OpRefuse,
		then: nodes.OpSetTimer}
	retry := step{in: nodes.Timeout, timer: nodes.Timer{Kind: again}, told: `"request","msg_id":3`,
		op: nodes.OpRetry}
	enterLater := step{dest: "c0", body: `{"type":"entered","in_reply_to":3}`, op: nodes.OpGrant}
	for name, steps := range map[string][]step{
		"goes on":          {ask, enter, lost, repeated, release},
		"leaves after all": {ask, enter, lost, left},
		"told too late":    {ask, enter, release, late},
		"told outside": {ask, {dest: "c0", body: `{"type":"revoked","stays":true}`,
			wrong: "not inside"}},
		"told unclearly": {ask, enter, {dest: "c0", body: `{"type":"revoked","in_reply_to":9,"stays":true}`,
			wrong: "not inside"}},
		"told twice, of two entries": {ask, enter, lost, release,
			{dest: "c0", body: `{"type":"release_ok","in_reply_to":3}`},
			{in: nodes.Request, told: `"request","msg_id":4`},
			{dest: "c0", body: `{"type":"entered","in_reply_to":4}`, op: nodes.OpGrant},
			{dest: "c0", body: `{"type":"revoked","in_reply_to":4,"stays":true}`, op: nodes.OpTellLost}},
		"tries again": {ask, refuse, retry, enterLater},
	} {
		converse(t, name, "safe=nothing", steps)
	}
}

// A declaration comes before init_ok or right after it. A later one is refused if before the run neither the
// program nor the user declared anything, and ignored otherwise.
func TestDeclarationsInTime(t *testing.T) {
	const declare = `{"type":"declare","safe":["no-loss"]}`
	for promises, refuses := range map[string]bool{"": true, undeclared().promises(): true, "safe=fifo": false,
		undeclared().promises() + ",elects": true} {
		s := newStage(t, "", promises)
		s.says("c0", `{"type":"declare"}`)
		s.says("c0", declare)
		if _, wrong := s.heard(); strings.Contains(wrong, "it declares too late") != refuses {
			t.Errorf("%q: %q", promises, wrong)
		}
	}
	for line, answers := range map[string]bool{declare: false, `{"type":"init_ok"}`: true} {
		said, err := Read([]byte(`{"src":"n1","dest":"c0","body":`+line+`}`), 1)
		if is, wrong := said.Answers(); err != nil || wrong != nil || is != answers {
			t.Errorf("%s answers init: %v, %v, %v", line, is, wrong, err)
		}
	}
}

func TestLines(t *testing.T) {
	for text, says := range map[string]string{
		`hello`: "no JSON object", `{"src":"n2","dest":"n0","body":{"type":"x"}}`: `src is "n2", but it is n1`,
		`{"src":"n1","dest":"n0","body":{}}`:                             "has no type",
		`{"src":"n1","dest":"timer","body":{"type":"set","min_ms":"1"}}`: "timer cannot read",
		`{"src":"n1","dest":"n0","body":{"type":"x","min_ms":"1"}}`:      "",
	} {
		_, err := Read([]byte(text), 1)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A message keeps its bytes and its kind on its way.
func TestMessagesTravel(t *testing.T) {
	s := newStage(t, "ask:permit", "")
	s.says("n2", `{"type":"ask", "x":"é\n"}`)
	if e := s.effs[0]; e.To != 2 || e.Kind != 0 || bodyOf(e.Message) != `{"type":"ask", "x":"é\n"}` {
		t.Errorf("%+v", e)
	}
	s.says("n2", `{"type":"other than declared"}`)
	if e := s.effs[0]; e.Kind != 1 {
		t.Errorf("%+v", e)
	}
}

// The declaration of a program stays the same when it is written as text and read again.
func TestDeclarations(t *testing.T) {
	for body, text := range map[string]string{
		`{}`: "; safe=nothing,live=no-loss+no-duplication+fifo+no-crash+no-amnesia+no-pause+timing+" +
			"servers-up,grace=2s",
		`{"kinds":{"t":{"token":true},"a":{},"r":{"permit":true,"heartbeat":true}},"safe":["fifo"],"live":[],
			"fenced":true,"grace_ms":5}`: "a,r:permit+heartbeat,t:token; safe=fifo,live=nothing,grace=5ms,fenced",
		`{"safe":true,"live":["majority"],"elects":true,"terms":true,"highest":true,"overlap_ms":50}`: "; " +
			"safe=nothing,live=majority,grace=2s,overlap=50ms,elects,terms,highest",
	} {
		d, err := ReadDeclaration(body)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(d.kinds(), d.promises())
		if got := d.kinds() + "; " + d.promises(); got != text || err != nil ||
			again.kinds()+"; "+again.promises() != text {
			t.Errorf("%s is %s: %v", body, got, err)
		}
	}
	for _, wrong := range []string{`{"safe":["x"]}`, `{"kinds":{"x y":{}}}`, `{"kinds":{"other":{}}}`,
		`{"kinds":{"x":{"lock":true}}}`, `{"live":3}`, `{"safe":3}`} {
		if d, err := ReadDeclaration(wrong); err == nil {
			t.Errorf("%s is %+v", wrong, d)
		}
	}
}
