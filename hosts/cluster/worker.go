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

// A Worker is a process that carries out orders from its standard input, one after another, and answers on
// its standard output (see ServeOrders).
type Worker struct {
	Node
	mu      sync.Mutex // held while a question has no answer yet
	number  int        // number of the latest question
	answers chan answer
	limit   time.Duration // how long an answer may take
}

// A question is a numbered order to a worker, as a line of JSON.
type question struct {
	Number int             `json:"number"`
	Order  json.RawMessage `json:"order"`
}

// An answer is the result of an order that the worker has carried out, or its error.
type answer struct {
	Number int             `json:"number"` // number of the question
	Error  string          `json:"error,omitempty"`
	Answer json.RawMessage `json:"answer,omitempty"`
}

// answerLimit is how long a worker may take to answer. A worker that is not stuck needs much less.
const answerLimit = 20 * time.Second

// StartWorker starts a program with arguments on a host. The program must call ServeOrders.
func StartWorker(on Host, name string, program []string) (*Worker, error) {
	w := &Worker{answers: make(chan answer, 16), limit: answerLimit}
	reader := jsonseq.Reader[answer]{On: func(a answer) {
		select {
		case w.answers <- a:
		default: // drops answers to questions that nobody waits for any more
		}
	}}
	var err error
	w.Node, err = on.Start(Command{Name: name, Program: program}, reader.Sift)
	return w, err
}

// Pid returns the ID of the process, or 0 if it runs on another machine.
func (w *Worker) Pid() int {
	if has, is := w.Node.(interface{ Pid() int }); is {
		return has.Pid()
	}
	return 0
}

// SetLimit sets how long the worker may take to answer, instead of 20 s.
func (w *Worker) SetLimit(d time.Duration) { w.limit = d }

// Ask has the worker carry out an order, and decodes its answer into result, unless result is nil.
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
		case <-w.Ended(): // await will say how the worker ended
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

// await waits for the answer to the latest question. It finds the answer even if the worker has ended since.
func (w *Worker) await(ctx context.Context) (answer, error) {
	late := time.After(w.limit)
	for {
		select {
		case a := <-w.answers:
			if a.Number == w.number {
				return a, nil
			}
		case <-w.Ended(): // all its output has been read
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

// ServeOrders is the worker's side: it calls do for each order from in, and writes the answers to out. It
// returns when the input ends, even if an order is still being carried out.
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

// answer carries out an order, and returns the encoded answer.
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
		panic(err) // impossible: an answer has only a number, a text and encoded JSON
	}
	return b
}
