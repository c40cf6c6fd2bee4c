package commands

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"turnstile/bench/study"
	"turnstile/internal/figure"
	"turnstile/internal/format"
	"turnstile/internal/stats"
	"turnstile/results"
)

// Tables on pages that are made from published sets: make readme brings them up to date.
const (
	matricesPage = "../docs/matrices.md"
	servicesPage = "../docs/services.md"
	published    = "../results/published"
)

// notMeasured is a cell whose figure no published set has.
const notMeasured = "not measured"

// A lockLine is a line of the table "which lock?".
type lockLine struct {
	name     string
	failover string            // its line in failover.csv
	runs     map[string]string // the columns of its runs in the set services; nil: it elects a leader
	takes    string            // what somebody needs to have it
}

// lockRuns returns the columns of the runs of a service with its own client: pairs of a column and its value.
func lockRuns(service string, pairs ...string) map[string]string {
	runs := map[string]string{"algorithm": service}
	for pair := range slices.Chunk(pairs, 2) {
		runs[optionColumn(service, pair[0])] = pair[1]
	}
	return runs
}

// clientRuns is like lockRuns, with another client, a file of examples/clients.
func clientRuns(service, file string) map[string]string {
	return map[string]string{"algorithm": service + " with " + file}
}

// optionColumn returns the column of an option of a service.
func optionColumn(service, option string) string {
	return strings.ReplaceAll(service, "-", "_") + "_" + option
}

// needsPython is what clients of examples/clients need.
const needsPython = "[Python](#your-own-client)"

var lockLines = []lockLine{
	{"`redis`", "redis fence=on", lockRuns("redis", "fence", "on"), "Redis; fence numbers need a script"},
	{"`redis`, redis-py", "redis px=2s client=redis_lock.py", clientRuns("redis", "redis_lock.py"), needsPython},
	{"`redis`, node-redis", "redis px=2s client=redis_lock.js", clientRuns("redis", "redis_lock.js"),
		"[Node](#your-own-client)"},
	{"`redlock`, 3 servers", "redlock", lockRuns("redlock", "members", "3"), "independent Redis servers"},
	{"`nats-kv`, 1 server", "nats-kv members=1", lockRuns("nats-kv", "members", "1"), "NATS with JetStream"},
	{"`nats-kv`, 3 servers", "nats-kv members=3", lockRuns("nats-kv", "members", "3"), "a cluster of NATS"},
	{"`etcd`, 1 server", "etcd members=1", lockRuns("etcd", "members", "1"), "etcd"},
	{"`etcd`, python-etcd3", "etcd members=1 ttl=2s client=etcd3_lock.py",
		clientRuns("etcd", "etcd3_lock.py"), needsPython},
	{"`etcd`, 3 servers", "etcd members=3", lockRuns("etcd", "members", "3"), "a cluster of etcd"},
	{"`zookeeper`, 1 server", "zookeeper members=1", lockRuns("zookeeper", "members", "1", "recipe", "own"),
		"ZooKeeper, a JVM"},
	{"`zookeeper`, kazoo", "zookeeper members=1 session=2s client=kazoo_lock.py",
		clientRuns("zookeeper", "kazoo_lock.py"), needsPython},
	{"`zookeeper`, kazoo's Election", "zookeeper members=1 session=2s client=kazoo_election.py", nil,
		needsPython + "; elects a leader"},
	{"`zookeeper`, 3 servers", "zookeeper members=3", lockRuns("zookeeper", "members", "3", "recipe", "own"),
		"an ensemble of ZooKeeper"},
	{"`postgres`", "postgres", lockRuns("postgres", "watch", "off"), "a connection for each client"},
	{"`postgres`, psycopg", "postgres client=psycopg_lock.py", clientRuns("postgres", "psycopg_lock.py"),
		needsPython},
	{"`postgres`, `idle`, `watch=ping`", "postgres watch=ping", lockRuns("postgres", "watch", "ping"),
		"a session limit, and a holder that sends pings"},
	{"`postgres-table`", "postgres-table fence=on", lockRuns("postgres-table", "fence", "on"),
		"a table in PostgreSQL"},
	{"`flock`", "flock", lockRuns("flock"), "one machine"},
	{"`etcd-election`, 3 servers", "etcd-election members=3", nil, "a cluster of etcd; elects a leader"},
	{"`lease`, 3 servers", "lease members=3", nil, "Kubernetes' API; elects a leader"},
	{"`etcd-raft`", "etcd-raft", nil, "the library in each node; elects a leader"},
}

// TestLockTable wants the first table of the page on services to say what the published sets say.
func TestLockTable(t *testing.T) {
	failovers, err := (&results.Set{Path: published + "/failover"}).Failover()
	if err != nil {
		t.Fatal(err)
	}
	runs := records(t, published+"/services/runs.csv")
	var table strings.Builder
	table.WriteString("| lock | holder killed | holder cut | holder paused | two inside | both write | " +
		"server killed | entries/s | it needs |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, l := range lockLines {
		cells := []string{l.name}
		for _, fault := range []string{"kill", "cut", "pause"} {
			cells = append(cells, next(l.row(failovers, fault)))
		}
		cells = append(cells, together(l.row(failovers, "pause"))...)
		cells = append(cells, next(l.row(failovers, "kill-server")), l.rates(runs), l.takes)
		fmt.Fprintf(&table, "| %s |\n", strings.Join(cells, " | "))
	}
	wantTable(t, servicesPage, "which lock", table.String())
}

// row returns the row of the line under a fault, with a time to live of 2 s if there is one; nil: there is
// none.
func (l *lockLine) row(rows []results.FailoverRow, fault string) *results.FailoverRow {
	for i := range rows {
		r := &rows[i]
		if asked, has := r.AskedS.Value(); r.Line == l.failover && r.Fault == fault && (!has || asked == 2) {
			return r
		}
	}
	return nil
}

// next returns the median time to the next entry, and of how many runs it is unless these are six.
func next(r *results.FailoverRow) string {
	switch {
	case r == nil || r.Runs == 0 && r.LeftOut > 0:
		return notMeasured
	case r.Runs == 0: // it ignores the fault
		return format.Missing
	case r.Runs != 6:
		return fmt.Sprintf("%s (%d runs)", format.Seconds(r.MedianS), r.Runs)
	}
	return format.Seconds(r.MedianS)
}

// together says whether two were inside in a run, and whether both wrote to a resource that demands fence
// numbers.
func together(r *results.FailoverRow) []string {
	if r == nil {
		return []string{notMeasured, notMeasured}
	}
	inside, known := r.TwoInside.Value()
	both, fenced := r.BothWrite.Value()
	switch {
	case !known:
		return []string{notMeasured, notMeasured}
	case inside == 0:
		return []string{"no", "one inside"}
	case !r.Fences:
		return []string{"**yes**", "no fence"}
	case !fenced:
		return []string{"**yes**", notMeasured}
	case both == 0:
		return []string{"**yes**", "no"}
	}
	return []string{"**yes**", "**yes**"}
}

// rates returns the median entries per second of 8 clients that always request, without fsync and with it.
func (l *lockLine) rates(runs []map[string]string) string {
	if l.runs == nil {
		return format.Missing
	}
	var all []string
	for _, durable := range []string{"off", "on"} {
		var rates []float64
		for _, r := range runs {
			is := r["nodes"] == "8" && r["load"] == "saturated" && r["proxies"] != "true" && r["verdict"] == "valid"
			for name, value := range l.runs {
				is = is && r[name] == value
			}
			of := r[optionColumn(l.runs["algorithm"], "durable")]
			if rate, err := strconv.ParseFloat(r["entries_per_s"], 64); is && err == nil &&
				cmp.Or(of, "off") == durable {
				rates = append(rates, rate)
			}
		}
		if len(rates) > 0 {
			all = append(all, format.Rate(figure.Number(stats.Median(rates).Value)))
		}
	}
	return cmp.Or(strings.Join(all, " / "), notMeasured)
}

var tablesRead = map[string][]map[string]string{}

// records reads a table by its headers.
func records(t *testing.T, path string) []map[string]string {
	t.Helper()
	rows, err := rowsOf(path)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// rowsOf reads a table by its headers. Tables do not change during the tests.
func rowsOf(path string) (rows []map[string]string, err error) {
	if rows, has := tablesRead[path]; has {
		return rows, nil
	}
	defer func() { tablesRead[path] = rows }()
	text, err := results.TableIn(filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), ".gz"))
	if err != nil {
		return nil, err
	}
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, header := range all[0] {
			row[header] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// TestFailoverTable wants the table of failovers to be that of the published set.
func TestFailoverTable(t *testing.T) {
	rows, err := (&results.Set{Path: published + "/failover"}).Failover()
	if err != nil {
		t.Fatal(err)
	}
	faults := []string{"kill", "cut", "pause", "kill-server", "cut-server"}
	var names []string // in the order of the file
	cells := map[string][]string{}
	reasons := map[string]string{}
	for i := range rows {
		r := &rows[i]
		name := fmt.Sprintf("`%s` | %s | %s", r.Line, format.Seconds(r.AskedS), format.Seconds(r.GrantedS))
		at := slices.Index(faults, r.Fault)
		switch {
		case at < 0:
			t.Fatalf("failover.csv has a fault %q", r.Fault)
		case r.Runs == 0 && r.LeftOut == 0: // with any time to live
			reasons[r.Line+r.Fault] = r.Reason
			continue
		case cells[name] == nil:
			names = append(names, name)
			cells[name] = make([]string, len(faults))
		}
		cells[name][at] = failoverCell(r)
	}
	var table strings.Builder
	table.WriteString("| service | ttl asked | granted | holder or leader killed | cut off | stands still | " +
		"leading server killed | leading server cut off |\n|---|---|---|---|---|---|---|---|\n")
	for _, name := range names {
		line := strings.Split(name, "`")[1]
		for at, fault := range faults {
			if cells[name][at] == "" {
				cells[name][at] = cmp.Or(reasons[line+fault], format.Missing)
			}
		}
		fmt.Fprintf(&table, "| %s | %s |\n", name, strings.Join(cells[name], " | "))
	}
	wantTable(t, matricesPage, "failovers", table.String())
}

// failoverCell returns a median with its interval, and how many runs it is of unless these are six.
func failoverCell(r *results.FailoverRow) string {
	cell := format.Seconds(r.MedianS)
	if r.Missed < r.Runs {
		cell += fmt.Sprintf(" (%s to %s)", format.Seconds(r.LowS), format.Seconds(r.HighS))
	}
	if r.Runs != 6 {
		cell += fmt.Sprintf(" of %d", r.Runs)
	}
	return cell
}

// TestServiceTable wants the table of known failures to be that of the published set, with what its lines
// say.
func TestServiceTable(t *testing.T) {
	rows, err := (&results.Set{Path: published + "/known-failures"}).Matrix()
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| line | service and options | fault | strict | fenced | nobody for | what happens |\n" +
		"|---|---|---|---|---|---|---|\n")
	for _, l := range study.ServiceLines() {
		at := slices.IndexFunc(rows, func(r results.MatrixRow) bool {
			return r.Line == fmt.Sprint(l.Number) && r.Algorithm == l.Text() && r.Fault == l.FaultText()
		})
		if at < 0 {
			t.Errorf("the set known-failures has no line %d, %s under %s", l.Number, l.Text(), l.FaultText())
			continue
		}
		r := &rows[at]
		says := strings.NewReplacer("|", `\|`, "[", "(", "]", ")").Replace(l.Says)
		fmt.Fprintf(&table, "| %d | `%s` | %s | %s | %s | %s | %s Documented: [%s](%s) |\n", l.Number, l.Text(),
			r.Fault, r.Shown, r.Fenced, format.Seconds(r.SilenceMaxS), l.Why, says, l.Link)
	}
	wantTable(t, matricesPage, "known failures", table.String())
}
