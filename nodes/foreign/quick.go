package foreign

import (
	"turnstile/internal/plainjson"
	"turnstile/nodes"
)

// quick reads a line to the testbed that is written as programs usually do: no spaces, names and texts
// without escapes, whole numbers, and no key that it does not know. It reports whether it could. What it
// returns is what slow returns of such a line, which a test compares.
func quick(text []byte, id nodes.ID) (s Said, ok bool) {
	l := plainjson.Scan{Text: text}
	var src, dest, raw []byte
	ok = l.Object(func(key string) bool {
		switch key {
		case "src":
			src = l.Word()
		case "dest":
			dest = l.Word()
		case "body":
			s.Type, s.Body, raw = "", body{}, nil
			from := l.At
			if !l.Object(func(key string) bool { return field(&l, key, &s.Body) }) {
				return false
			}
			raw = text[from:l.At]
		default:
			return false
		}
		return !l.Failed
	})
	if !ok || l.At != len(text) || raw == nil || string(dest) != Client || string(src) != NameOf(id) ||
		s.Body.Type == "" {
		return Said{}, false
	}
	s.To, s.Service, s.Type, s.Raw = nodes.None, Client, s.Body.Type, string(raw)
	return s, true
}

// field reads the value of a key of a body.
func field(l *plainjson.Scan, key string, b *body) bool {
	switch key {
	case "type":
		b.Type = string(l.Word())
	case "in_reply_to":
		n := l.Number()
		b.InReplyTo = &n
	case "fence":
		n := l.Number()
		b.Fence = &n
	case "stays":
		b.Stays = l.Truth()
	default:
		return false
	}
	return !l.Failed
}
