// Package plainjson reads a plain subset of JSON: no spaces, strings of ASCII without escapes, whole numbers.
// It takes a fraction of the time of encoding/json, which must read all other JSON.
package plainjson

import "bytes"

// A Scan reads a text from left to right, as far as it is plain.
type Scan struct {
	Text   []byte
	At     int  // index of the next byte
	Failed bool // the text is not plain
}

// Take skips the next byte if it is b, and reports whether it was.
func (l *Scan) Take(b byte) bool {
	if l.At < len(l.Text) && l.Text[l.At] == b {
		l.At++
		return true
	}
	return false
}

// Object reads an object with at least one key. It calls value to read the value of each key.
func (l *Scan) Object(value func(key string) bool) bool {
	if !l.Take('{') {
		return false
	}
	for {
		key := l.Word()
		if l.Failed || !l.Take(':') || !value(string(key)) {
			return false
		}
		if l.Take('}') {
			return true
		}
		if !l.Take(',') {
			return false
		}
	}
}

// Word reads a string of printable ASCII without escapes.
func (l *Scan) Word() []byte {
	if !l.Take('"') {
		l.Failed = true
		return nil
	}
	from := l.At
	for ; l.At < len(l.Text); l.At++ {
		switch c := l.Text[l.At]; {
		case c == '"':
			l.At++
			return l.Text[from : l.At-1]
		case c == '\\' || c < ' ' || c > '~':
			l.Failed = true
			return nil
		}
	}
	l.Failed = true
	return nil
}

// Number reads a whole number of at most 18 digits.
func (l *Scan) Number() (n uint64) {
	const most = 18
	from := l.At
	for ; l.At < len(l.Text) && '0' <= l.Text[l.At] && l.Text[l.At] <= '9'; l.At++ {
		if l.At-from == most {
			break
		}
		n = 10*n + uint64(l.Text[l.At]-'0')
	}
	if l.At == from || l.Text[from] == '0' && l.At > from+1 {
		l.Failed = true
	}
	return n
}

// Truth reads true or false.
func (l *Scan) Truth() bool {
	is := bytes.HasPrefix(l.Text[l.At:], []byte("true"))
	switch {
	case is:
		l.At += len("true")
	case bytes.HasPrefix(l.Text[l.At:], []byte("false")):
		l.At += len("false")
	default:
		l.Failed = true
	}
	return is
}
