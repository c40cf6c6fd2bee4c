package history

import (
	"unicode/utf8"

	"turnstile/nodes"
)

// A Text is the content of a message as text, such as a message of a foreign program.
type Text struct {
	Type string // empty: the type is the name of the message's kind
	Body string // shortened: see longestBody
}

// How many bytes of a text are kept.
const (
	longestType = 40
	longestBody = 200
)

// textLen is how many bytes a text takes in a log: a byte for each of two lengths, the type, and the body.
const textLen = 2 + longestType + longestBody + 2*len(cut)

// cut ends a shortened text.
const cut = "..."

// Shortened returns the beginning of a body, as a Text has it.
func Shortened(body string) string { return shorten(body, longestBody) }

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + cut
}

func putText(b []byte, t Text) {
	typ, body := shorten(t.Type, longestType), shorten(t.Body, longestBody)
	_ = b[textLen-1]
	b[0], b[1] = byte(len(typ)), byte(len(body))
	copy(b[2+copy(b[2:], typ):], body)
}

// getText reads a text. It cuts off lengths that a garbled log may have.
func getText(b []byte) Text {
	typ := 2 + min(int(b[0]), longestType+len(cut))
	return Text{string(b[2:typ]), string(b[typ:min(textLen, typ+int(b[1]))])}
}

// TraceText puts a message into the trace, as Trace does, with its text. The log must keep texts.
func (l *Log) TraceText(m MessageRecord, t Text) {
	if at := l.traceAt / messageRecordLen * textLen; !l.stopped() {
		putText(l.texts[at:at+textLen], t)
	}
	l.Trace(m)
}

// Last keeps the last line of the program of the node. The log must keep texts.
func (l *Log) Last(says string) { putText(l.texts[len(l.texts)-textLen:], Text{Body: says}) }

// textsLen returns how many bytes the texts take: one text for each message of the trace, and Log.Last.
func (p *preamble) textsLen() uint32 { return p.texts * (p.trace + 1) * uint32(textLen) }

// Text returns the text of message i of the trace; empty if the log keeps no texts.
func (l *NodeLog) Text(i int) Text {
	if i >= len(l.Texts) {
		return Text{}
	}
	return l.Texts[i]
}

// text writes or reads a text as its length and its bytes.
func (w *words) text(s *string) {
	length := uint64(len(*s))
	switch word(w, &length); {
	case !w.reading:
		w.b = append(w.b, *s...)
	case w.cutOff || length > uint64(len(w.b)):
		w.cutOff = true
	default:
		*s, w.b = string(w.b[:length]), w.b[length:]
	}
}

// decodeTexts reads the texts of a trace, and the text of Log.Last.
func decodeTexts(b []byte, next uint64) (texts []Text, last string) {
	size := uint64(len(b)/textLen) - 1
	for at := range latest(size, next) {
		texts = append(texts, getText(b[at*uint64(textLen):]))
	}
	return texts, getText(b[size*uint64(textLen):]).Body
}

// Texts returns a function that returns the text of an event. Call this function once for each event of one
// history, in order. Only messages in a trace and breaches of the protocol have texts.
func Texts(logs []*NodeLog) func(e *Event) Text {
	type send struct {
		node nodes.ID
		at   int64
	}
	sent, last := map[send][]Text{}, map[nodes.ID]string{}
	for _, l := range logs {
		for i, m := range l.Trace {
			if of := (send{l.Node, m.At}); m.Sent && i < len(l.Texts) {
				sent[of] = append(sent[of], l.Texts[i])
			}
		}
		if l.Last != "" {
			last[l.Node] = l.Last
		}
	}
	return func(e *Event) (says Text) {
		switch of := (send{e.Node, e.At}); {
		case e.Kind == Breached:
			says.Body = last[e.Node]
		case e.Kind == Sent && len(sent[of]) > 0:
			says, sent[of] = sent[of][0], sent[of][1:]
		}
		return says
	}
}
