package play

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// A Start is what a page opens with: a schedule at its end, or a film.
type Start struct {
	Schedule string `json:"schedule,omitempty"`
	Film     *Film  `json:"film,omitempty"`
}

// startID is what the tag of the element that has the start contains.
const startID = ` id="start"`

// WithStart returns a copy of a page that opens with a start.
func WithStart(page []byte, start Start) ([]byte, error) {
	text, err := json.Marshal(start) // which has no < in it, so it does not end the element
	if err != nil {
		return nil, err
	}
	before, after, found := bytes.Cut(page, []byte(startID))
	tag, after, closed := bytes.Cut(after, []byte(">"))
	if at := bytes.Index(after, []byte("</script>")); found && closed && at >= 0 {
		return slices.Concat(before, []byte(startID), tag, []byte(">"), text, after[at:]), nil
	}
	return nil, errors.New("it is not the page that make play makes: it has no place for a start")
}
