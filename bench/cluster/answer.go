package cluster

import (
	"sync/atomic"
	"time"
)

// An AnswerFault has the nth answer to each client get lost, counted over all of the client's proxies from
// the time that the fault begins. An answer is what comes from the server after the client has said
// something.
type AnswerFault struct {
	Nth uint64            `json:"nth"`
	Of  map[string]string `json:"of"` // the client of each proxy
	// Close has the connection closed in place of the answer. Otherwise the client hears nothing more by that
	// connection until the fault is healed, and then it is closed.
	Close bool `json:"close,omitempty"`

	losses map[string]*answerLoss // by client
}

// An answerLoss is what such a fault does to one client.
type answerLoss struct {
	nth   uint64
	close bool
	seen  atomic.Uint64
}

// begin has the answers of each client be counted.
func (f *AnswerFault) begin() {
	if f == nil {
		return
	}
	f.losses = map[string]*answerLoss{}
	for _, client := range f.Of {
		f.losses[client] = &answerLoss{nth: f.Nth, close: f.Close}
	}
}

// of returns what it does to the client of a proxy.
func (f *AnswerFault) of(proxy string) []*answerLoss {
	if f == nil {
		return nil
	}
	return []*answerLoss{f.losses[f.Of[proxy]]}
}

// lost returns how many answers were lost.
func (f *AnswerFault) lost() (count int) {
	if f == nil {
		return 0
	}
	for _, l := range f.losses {
		if l.seen.Load() >= l.nth {
			count++
		}
	}
	return count
}

// begun is when this process was.
var begun = time.Now()

// note counts what has come. It counts an answer, and loses it if it is to be lost.
func (l *line) note(c chunk, r *rule, f *flow) {
	if len(c.data) == 0 {
		return
	}
	l.bytes.Add(uint64(len(c.data)))
	if !l.answers {
		l.asked.Store(true)
		return
	}
	l.answered.Store(int64(time.Since(begun)))
	if len(r.answers) == 0 || !l.asked.Swap(false) {
		return
	}
	for _, loss := range r.answers {
		if loss.seen.Add(1) == loss.nth {
			f.closed, f.deaf = loss.close, loss
		}
	}
}
