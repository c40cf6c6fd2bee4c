package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
)

// aliveEvery is how often an agent makes sure that the orchestrator of a run is there.
const aliveEvery = 400 * time.Millisecond

// attend ends the session when its orchestrator is gone.
func (s *session) attend() {
	answered := time.Now()
	for {
		select {
		case <-s.over:
			return
		case <-time.After(aliveEvery):
		}
		_, err := s.agent.conn.Request(aliveSubject(s.run), nil, aliveEvery)
		silent := time.Since(answered)
		switch {
		case err == nil:
			answered = time.Now()
		case errors.Is(err, nats.ErrNoResponders):
			s.end("its orchestrator has ended", true)
			return
		case silent > s.agent.OrphanAfter:
			s.end(fmt.Sprintf("its orchestrator has not answered for %v", silent.Round(100*time.Millisecond)), true)
			return
		}
	}
}

// end ends all processes of the run, and the session. Files that were not removed can be fetched later.
func (s *session) end(why string, unplanned bool) {
	s.once.Do(func() {
		a := s.agent
		a.mu.Lock()
		delete(a.runs, s.run)
		a.past[s.run] = true
		a.mu.Unlock()
		if unplanned { // before the ends of processes, which are nobody's orders
			s.tell(event{Over: why})
		}
		s.mu.Lock()
		close(s.over)
		processes, ports := s.processes, s.ports
		s.processes, s.ports = map[int]*process{}, nil
		s.mu.Unlock()
		s.healAll()
		for _, p := range processes {
			p.Dismiss()
		}
		for _, p := range processes {
			<-p.Ended()
		}
		for _, p := range ports {
			p.Release()
		}
		if unplanned {
			a.RunAs.Files(func() error { // nobody else will
				return os.RemoveAll(filepath.Join(SharedMemory, s.run))
			})
		}
		s.keep(s.trial(), "ended: "+why)
		a.say("the run %s is over: %s", s.run, why)
	})
}

// keep marks the folder of a trial as one whose files are to be fetched, and says why they are there. A
// name of nothing is no folder.
func (s *session) keep(folder, why string) {
	if folder == "" || s.agent.Local || s.join.Adopt != "" {
		return
	}
	text := fmt.Sprintf("%s: the run %s of %s %s\n", time.Now().Format(time.RFC3339), s.run, s.join.User, why)
	if err := os.WriteFile(filepath.Join(folder, leftMark), []byte(text), 0o644); err != nil {
		s.agent.say("%s is not marked: %v", folder, err)
	}
}
