package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"turnstile/internal/jsonseq"
)

// A Worker is a process that does what it is asked by its standard input, one thing after the other, and
// answers by its standard output (see ServeOrders).
type Worker struct {
	Node
	mu      sync.Mutex // for one question at a time
	number  int        // of the latest
	answers chan answer
	limit   time.Duration // for an answer
}

// A question is an order to a worker, numbered. It is a line of JSON.
type question struct {
	Number int             `json:"number"`
	Order  json.RawMessage `json:"order"`
}

// An answer is what a worker says when it has obeyed, or that it cannot.
type answer struct {
	Number int             `json:"number"` // of the question
	Error  string          `json:"error,omitempty"`
	Answer json.RawMessage `json:"answer,omitempty"`
}

// answerLimit is how long a worker may take to answer, which is much longer than any does that is not stuck.
const answerLimit = 20 * time.Second

// StartWorker starts a program and its arguments on a host, which must call ServeOrders.
func StartWorker(on Host, name string, program []string) (*Worker, error) {
	w := &Worker{answers: make(chan answer, 16), limit: answerLimit}
	reader := jsonseq.Reader[answer]{On: func(a answer) {
		select {
		case w.answers <- a:
		default: // to questions that nobody waits for any more
		}
	}}
	var err error
	w.Node, err = on.Start(Command{Name: name, Program: program}, reader.Sift)
	return w, err
}

// Pid returns the ID of the process; 0: it runs on another machine.
func (w *Worker) Pid() int {
	if has, is := w.Node.(interface{ Pid() int }); is {
		return has.Pid()
	}
	return 0
}

// SetLimit says how long the worker may take to answer from now on, instead of 20 s.
func (w *Worker) SetLimit(d time.Duration) { w.limit = d }

// Ask has the worker carry out an order, and decodes its answer into what result points to, unless that is
// nil.
func (w *Worker) Ask(ctx context.Context, order, result any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.number++
	q := question{Number: w.number}
	var err error
	if q.Order, err = json.Marshal(order); err != nil {
		return err
	}
	line, err := json.Marshal(q)
	if err != nil {
		return err
	}
	if err := w.Tell(append(line, '\n')); err != nil {
		select {
		case <-w.Ended(): // which says more
		case <-time.After(time.Second):
			return fmt.Errorf("asking %s: %w", w.Name(), err)
		}
	}
	a, err := w.await(ctx)
	switch {
	case err != nil:
		return err
	case a.Error != "":
		return errors.New(a.Error)
	case result == nil:
		return nil
	}
	return json.Unmarshal(a.Answer, result)
}

// await waits for the answer to the latest question. One that the worker gave before it ended counts.
func (w *Worker) await(ctx context.Context) (answer, error) {
	late := time.After(w.limit)
	for {
		select {
		case a := <-w.answers:
			if a.Number == w.number {
				return a, nil
			}
		case <-w.Ended(): // and all is read that it has printed
			for len(w.answers) > 0 {
				if a := <-w.answers; a.Number == w.number {
					return a, nil
				}
			}
			return answer{}, fmt.Errorf("%s ended before it answered: %s", w.Name(), w.Fate().Says)
		case <-ctx.Done():
			return answer{}, ctx.Err()
		case <-late:
			return answer{}, fmt.Errorf("%s has not answered within %v", w.Name(), w.limit)
		}
	}
}

// End ends the worker, and waits until it has ended.
func (w *Worker) End() {
	w.Dismiss()
	<-w.Ended()
}

// ServeOrders is the other end: it has do carry out the orders that come by in, and writes the answers to
// out, until in ends. It does not wait for an order that is being carried out then.
func ServeOrders(in io.Reader, out io.Writer, do func(order json.RawMessage) (any, error)) error {
	questions := make(chan question)
	ended := make(chan error, 1)
	go func() {
		for input := json.NewDecoder(in); ; {
			var q question
			if err := input.Decode(&q); err != nil {
				if err == io.EOF {
					err = nil
				}
				ended <- err
				return
			}
			questions <- q
		}
	}()
	for done := make(chan []byte, 1); ; {
		select {
		case q := <-questions:
			go func() { done <- q.answer(do) }()
		case err := <-ended:
			return err
		}
		select {
		case b := <-done:
			if _, err := out.Write(b); err != nil {
				return err
			}
		case err := <-ended:
			return err
		}
	}
}

// answer carries out what is asked, and returns the answer as it is written.
func (q question) answer(do func(json.RawMessage) (any, error)) []byte {
	a := answer{Number: q.Number}
	result, err := do(q.Order)
	if err == nil && result != nil {
		a.Answer, err = json.Marshal(result)
	}
	if err != nil {
		a.Error = err.Error()
	}
	b, err := jsonseq.Encode(a)
	if err != nil {
		panic(err) // it is made of a number, a text and what was encoded before
	}
	return b
}
