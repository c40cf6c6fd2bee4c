package commands

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"

	"turnstile/bench/runs"
	"turnstile/judge/check"
)

// A junitSuite is a run in the XML format of JUnit, which servers of continuous integration read.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

// A junitCase is a trial or a condition. It has a failure if it is violated, and an error if the run does not
// show whether it is.
type junitCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Failure *junitWrong `xml:"failure"`
	Error   *junitWrong `xml:"error"`
}

type junitWrong struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (s *junitSuite) add(name string, outcome check.Outcome, says, text string) {
	one := junitCase{Class: s.Name, Name: name}
	switch outcome {
	case check.Valid:
	case check.Violated:
		s.Failures++
		one.Failure = &junitWrong{says, text}
	default:
		s.Errors++
		one.Error = &junitWrong{says, text}
	}
	s.Cases = append(s.Cases, one)
	s.Tests++
}

// writeJUnit writes the trials of a run, the error that ended it, if any, and its conditions to the file of
// --junit.
func (r *required) writeJUnit(made *runs.Run, ended error, conditions []condition) error {
	if r.junit == "" {
		return nil
	}
	summary := made.Summary()
	suite := junitSuite{Name: made.Spec.Name}
	for i, t := range made.Trials {
		suite.add(fmt.Sprintf("trial %d", t.Number), t.Verdict.Outcome, t.Verdict.Reason, summary.VerdictText(i))
	}
	if ended != nil || len(made.Trials) == 0 {
		suite.add("run", check.Inconclusive, fmt.Sprint(ended), "")
	}
	for _, one := range conditions {
		suite.add(one.text, one.outcome, strings.TrimSpace(one.says), "")
	}
	text, err := xml.MarshalIndent(suite, "", "  ")
	if err == nil {
		err = os.WriteFile(r.junit, append([]byte(xml.Header), append(text, '\n')...), 0o644)
	}
	if err != nil {
		return failure{fmt.Errorf("--junit: %w", err), unwritten}
	}
	return nil
}
