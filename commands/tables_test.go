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
	failover string            // its lines in failover.csv
	paused   string            // the line of known failures in which its holder stands still
	fenced   string            // the same with an option that gives fence numbers
	runs     map[string]string // the columns of its runs in the set services
	takes    string            // what somebody needs to have it
}

// The paused holder is line 1 of the known failures, which have one server.
var lockLines = []lockLine{
	{"`redis`", "redis", "1 redis", "1 redis fence=on", map[string]string{"algorithm": "redis"},
		"a Redis server; fence numbers need a script"},
	{"`redlock`, 3 servers", "redlock", "1 redlock", "",
		map[string]string{"algorithm": "redlock", "redlock_members": "3"},
		"Redis servers that know nothing of each other"},
	{"`nats-kv`, 1 server", "nats-kv members=1", "1 nats-kv", "",
		map[string]string{"algorithm": "nats-kv", "nats_kv_members": "1"}, "NATS with JetStream"},
	{"`nats-kv`, 3 servers", "nats-kv members=3", "", "",
		map[string]string{"algorithm": "nats-kv", "nats_kv_members": "3"}, "a cluster of NATS"},
	{"`etcd`, 1 server", "etcd members=1", "1 etcd", "",
		map[string]string{"algorithm": "etcd", "etcd_members": "1"}, "etcd"},
	{"`etcd`, 3 servers", "etcd members=3", "", "",
		map[string]string{"algorithm": "etcd", "etcd_members": "3"}, "a cluster of etcd"},
	{"`zookeeper`, 1 server", "zookeeper members=1", "1 zookeeper", "",
		map[string]string{"algorithm": "zookeeper", "zookeeper_members": "1", "zookeeper_recipe": "own"},
		"ZooKeeper, a JVM"},
	{"`zookeeper`, 3 servers", "zookeeper members=3", "", "",
		map[string]string{"algorithm": "zookeeper", "zookeeper_members": "3", "zookeeper_recipe": "own"},
		"an ensemble of ZooKeeper"},
	{"`postgres`", "postgres", "1 postgres", "", map[string]string{"algorithm": "postgres"},
		"a connection for each client"},
	{"`postgres`, `idle`, `watch=ping`", "postgres watch=ping", "", "", nil,
		"a connection for each client, a session limit, and a holder that sends pings"},
	{"`postgres-table`", "postgres-table", "1 postgres-table", "1 postgres-table fence=on",
		map[string]string{"algorithm": "postgres-table"}, "a table in PostgreSQL"},
	{"`flock`", "", "", "", map[string]string{"algorithm": "flock"}, "one machine"},
	{"`etcd-election`, 3 servers", "etcd-election members=3", "", "", nil, "a cluster of etcd; elects a leader"},
	{"`lease`, 3 servers", "lease members=3", "", "", nil, "Kubernetes' API; elects a leader"},
	{"`etcd-raft`", "etcd-raft", "", "", nil, "the library in each node; elects a leader"},
}

// TestLockTable wants the first table of the page on services to say what the published sets say.
func TestLockTable(t *testing.T) {
	failovers, err := (&results.Set{Path: published + "/failover"}).Failover()
	if err != nil {
		t.Fatal(err)
	}
	known, err := (&results.Set{Path: published + "/known-failures"}).Matrix()
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
			cells = append(cells, l.nextAfter(failovers, fault))
		}
		cells = append(cells, l.together(known)...)
		cells = append(cells, l.nextAfter(failovers, "kill-server"), l.rates(runs), l.takes)
		if strings.Count(strings.Join(cells, " "), notMeasured) == len(cells)-2 {
			continue // until the sets are made again
		}
		fmt.Fprintf(&table, "| %s |\n", strings.Join(cells, " | "))
	}
	wantTable(t, servicesPage, "which lock", table.String())
}

// nextAfter returns the median time to the next entry after a fault, with a time to live of 2 s if there is
// one.
func (l *lockLine) nextAfter(rows []results.FailoverRow, fault string) string {
	for i := range rows {
		r := &rows[i]
		asked, has := r.AskedS.Value()
		switch {
		case r.Line != l.failover || r.Fault != fault || has && asked != 2:
		case r.Runs == 0: // it ignores the fault
			return format.Missing
		default:
			return format.Seconds(r.MedianS)
		}
	}
	return notMeasured
}

// together says whether two were inside while the holder stood still: of all entries, and of those that a
// resource accepts which demands fence numbers.
func (l *lockLine) together(rows []results.MatrixRow) []string {
	find := func(line string) *results.MatrixRow {
		at := slices.IndexFunc(rows, func(r results.MatrixRow) bool { return r.Line+" "+r.Algorithm == line })
		if at < 0 {
			return nil
		}
		return &rows[at]
	}
	strict, fenced := find(l.paused), find(cmp.Or(l.fenced, l.paused))
	if strict == nil || fenced == nil {
		return []string{notMeasured, notMeasured}
	}
	cells := []string{"no", "no"}
	if strings.Contains(strict.Shown, "X") {
		cells[0] = "**yes**"
	}
	switch {
	case strings.Contains(fenced.Fenced, "X"):
		cells[1] = "**yes**"
	case cells[0] == "no":
		cells[1] = "one inside"
	case fenced.Fenced == "-":
		cells[1] = "no fence"
	case l.fenced != "":
		cells[1] = "`fence=on`: no"
	}
	return cells
}

// rates returns the median entries per second of 8 clients that always request, without fsync and with it.
func (l *lockLine) rates(runs []map[string]string) string {
	if l.runs == nil {
		return notMeasured
	}
	var all []string
	for _, durable := range []string{"off", "on"} {
		var rates []float64
		for _, r := range runs {
			is := r["nodes"] == "8" && r["load"] == "saturated" && r["proxies"] != "true" && r["verdict"] == "valid"
			for column, value := range l.runs {
				is = is && r[column] == value
			}
			of := r[strings.ReplaceAll(l.runs["algorithm"], "-", "_")+"_durable"]
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
