package bench

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"turnstile/internal/chance"
	"turnstile/nodes"
	"turnstile/nodes/foreign"
	"turnstile/nodes/workload"
)

// A demand is what a run asks of its nodes: entries, or elections. The kind of the run's load decides which.
type demand interface {
	// tidy clears the options that the load does not use.
	tidy(o *Options)
	// check completes the job. It returns an error if an option is wrong.
	check(j *Job) error
	// one names a single unit of the demand, such as "an entry". If a unit may take longer than the job
	// measures, tooLong returns how long a unit may take, and the duration to suggest; otherwise zeros.
	one() string
	tooLong(j *Job) (takes, longer time.Duration)
}

// Requests are the demand of clients that ask for resources.
type requests struct{}

func (requests) tidy(*Options) {}

func (requests) check(j *Job) error {
	return cmp.Or(j.validateEnd(), j.checkResources(), j.checkReceive(), j.resolvable(), j.validateLoad(),
		j.Workload.Take.Check(&j.Spec.Spec, j.Config), j.Workload.Work.Check(j.Config.Capacity(), j.Config.Fenced),
		j.checkRealDetector())
}

func (requests) one() string { return "an entry" }

func (requests) tooLong(j *Job) (takes, longer time.Duration) {
	d, hops := j.Delays(), j.Spec.CostOf(j.Config).Delay.Max
	takes = d.Hold + time.Duration(min(hops, float64(j.Config.N))*float64(d.Message))
	if takes <= j.Duration {
		return 0, 0
	}
	return takes, takes
}

func (j *Job) validateLoad() error {
	w := &j.Workload
	if _, err := workload.ParseLoad(string(w.Load)); err != nil {
		return err
	}
	if (w.Load == workload.Open) != (w.Rate != 0) {
		return fmt.Errorf("a rate of %v under a load that is %s: "+
			"an open load takes a rate, and no other does", w.Rate, w.Load)
	}
	if err := w.CheckRate(); err != nil {
		return err
	}
	if err := j.checkCancelAfter(); err != nil {
		return err
	}
	if w.CampaignEvery != 0 {
		return fmt.Errorf("--campaign-every %v: %s is no election scheme", w.CampaignEvery, j.Algorithm)
	}
	if !w.Think.Zero() && w.Load != workload.Closed {
		return fmt.Errorf("--think %v: only a closed load has a think time, and this load is %s",
			w.Think, w.Load)
	}
	return nil
}

// checkCancelAfter returns an error if clients cannot give up while they wait, or the run might never end.
func (j *Job) checkCancelAfter() error {
	most := j.Workload.CancelAfter
	switch {
	case most == 0:
		return nil
	case most < 0:
		return fmt.Errorf("--cancel-after %v: write how long a client waits, as in 500ms", most)
	case j.Entries > 0:
		return fmt.Errorf("--cancel-after %v: what is given up is no entry, and a run of %d entries might "+
			"never end: use --duration", most, j.Entries)
	case j.Spec.Cancels:
		return nil
	case foreign.Speaks(j.Config):
		return fmt.Errorf("--cancel-after %v: %s does not declare that it cancels requests (docs/foreign.md): "+
			"leave it out", most, j.Spec.Name)
	}
	return fmt.Errorf("--cancel-after %v: a client of %s that waits has no way to give up: leave it out", most,
		j.Spec.Name)
}

// Campaigns are the demand of runs in which nodes are told to start elections.
type campaigns struct{}

func (campaigns) tidy(o *Options) {
	w := &o.Workload
	o.WarmupLimit, w.Hold, w.Think = 0, chance.Distribution{}, chance.Distribution{}
	w.Receive = workload.Receive{} // no client ever enters or computes
}

func (campaigns) check(j *Job) error {
	return errors.Join(j.validateElections(), j.resolvable(), j.checkRealDetector())
}

func (campaigns) one() string { return "an election" }

func (campaigns) tooLong(j *Job) (takes, longer time.Duration) {
	const laps = 8 // most schemes without timeouts elect within 8N messages, sent one after another
	switch takes = j.Stack.Grace(); {
	case takes == 0:
		takes = laps * time.Duration(j.Config.N) * j.Delays().Message
	case takes > j.Duration:
		plain, err := newJob(j.known, Options{Config: nodes.Config{N: j.Config.N}}, j.Spec, true)
		if err == nil && takes <= plain.Stack.Grace() {
			return 0, 0
		}
	}
	if takes <= j.Duration {
		return 0, 0
	}
	takes = j.AgreesWithin() // the time that the verdict allows for agreement
	return takes, j.outlasts(takes)
}

// validateElections checks the options of a run about leaders.
func (j *Job) validateElections() error {
	switch o := &j.Options; {
	case o.Entries > 0:
		return errors.New("--entries: a run of elections has no entries: use --duration")
	case o.Duration == 0:
		return errors.New("a duration of 0s: a run about leaders ends by its duration alone, such as 3s")
	case o.Warmup != 0:
		return fmt.Errorf("a warm-up of %v: a run about leaders is measured from its first election on", o.Warmup)
	case o.Config.Units > 1:
		return fmt.Errorf("--units %d: elections have no units, so leave it out", o.Config.Units)
	case o.Resources > 1:
		return fmt.Errorf("--resources %d: elections have no resources, so leave it out", o.Resources)
	}
	if err := cmp.Or(j.Workload.Initiators.Check(j.Config.N), j.validateEnd()); err != nil {
		return err
	}
	return j.countCampaigns()
}

// countCampaigns computes how many times the initiators campaign, if they do so periodically. It leaves
// enough time after the last campaign for all nodes to agree before the run ends.
func (j *Job) countCampaigns() error {
	w, first := &j.Workload, workload.CampaignAfter
	switch every := w.CampaignEvery; {
	case every == 0:
		w.Campaigns = 0
		return nil
	case every < time.Millisecond:
		return fmt.Errorf("campaigns %v apart: 1ms is the least, and an election has to fit in between", every)
	case w.Initiators == workload.NoneInitiates:
		return errors.New("periodic campaigns without initiators: take other --initiators")
	}
	agree := j.AgreesWithin()
	left := j.Duration - first - agree
	if left < w.CampaignEvery {
		return fmt.Errorf("campaigns %v apart in a run of %v leave no time for a second one: all may take %v to "+
			"agree after it, so run for %v or longer", w.CampaignEvery, j.Duration, agree,
			first+w.CampaignEvery+agree)
	}
	w.Campaigns = 1 + int(left/w.CampaignEvery)
	return nil
}
