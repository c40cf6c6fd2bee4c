package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"turnstile/bench/access"
	"turnstile/bench/agent"
)

// findLimit is how long hosts may take to say that they are there.
const findLimit = 2 * time.Second

// findHosts finds the hosts of a run, in the order of their numbers, and says why it cannot have those that
// it asks for, if it cannot.
func (s *Setup) findHosts(j *Job) (err error) {
	if s.Control == "" { // agents that the run starts
		p := j.Placement()
		var names []string
		for i := range j.Hosts {
			names = append(names, p.Name(i))
		}
		return errors.Join(j.PlaceOn(names), j.checkCuts(nil))
	}
	if s.control, err = access.Connect(s.Control, s.ControlKey); err != nil {
		return fmt.Errorf("--control: %w", err)
	}
	if err = s.chooseHosts(j); err != nil {
		s.control.Close()
	}
	return err
}

// chooseHosts finds out which of the hosts that are there the run is on.
func (s *Setup) chooseHosts(j *Job) error {
	found, err := agent.Find(s.control, findLimit)
	if err != nil {
		return err
	}
	if len(found) < j.Hosts {
		return fmt.Errorf("--hosts %d: %s", j.Hosts, thereAre(found))
	}
	var names []string
	for _, d := range found {
		names = append(names, d.Name)
	}
	if err := j.PlaceOn(names); err != nil {
		return err
	}
	for i := range j.Hosts {
		s.found = append(s.found, found[slices.Index(names, j.placed.Name(i))])
	}
	return errors.Join(s.checkProgram(), j.checkCuts(s.found))
}

// checkProgram says which of the hosts of the run does not start the node program that was named.
func (s *Setup) checkProgram() error {
	for _, d := range s.found {
		if s.NodeGiven && !d.Programs {
			return fmt.Errorf("--node-program: host %s starts node programs of its own version alone: leave it "+
				"out, or start the agents with --allow-program %s", d.Name, s.Node)
		}
	}
	return nil
}

// thereAre says which hosts were found.
func thereAre(found []agent.Description) string {
	if len(found) == 0 {
		return "no host is there: start one with orchestrator host --join"
	}
	says := fmt.Sprintf("%d are there:", len(found))
	for _, d := range found {
		says += " " + d.Name
	}
	return says
}
