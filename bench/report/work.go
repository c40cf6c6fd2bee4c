package report

import (
	"turnstile/bench"
	"turnstile/internal/english"
	"turnstile/nodes/workload"
)

// work prints the work that clients did inside. It prints nothing if they wrote the account alone.
func (p *Report) work(s *bench.Summary, t table) {
	w := s.Record.Options.Workload.Work
	if w == workload.Account || !t.known("work_done") {
		return
	}
	sum := func(column string) uint64 { n, _ := t.sum(column).Value(); return uint64(n) }
	says := w.Says(sum("work_done"), sum("work_spoilt"))
	if undone := sum("shares_undone"); undone > 0 {
		says += ", and " + english.Count(undone, "share", "shares") + " never done, since a node died first"
	}
	p.line("work", "%s", says)
}
