package results

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"turnstile/internal/disk"
	"turnstile/internal/input"
	"turnstile/internal/yamlfile"
	"turnstile/nodes/history"
)

// The files in the folder of a run.
const (
	RunFile        = "run.yaml"        // all that is needed to make the run again
	RowsFile       = "runs.csv"        // a Row per trial
	MessagesFile   = "messages.csv"    // a MessageRow per trial, phase and kind
	SizesFile      = "sizes.csv"       // a SizeRow per trial and number of units, if a resource has several
	ResourcesFile  = "resources.csv"   // a ResourceRow per trial and resource, if there are several resources
	FaultsFile     = "faults.csv"      // a PhaseRow per trial, fault and phase, if the run has faults
	TimelineFile   = "timeline.csv"    // an IntervalRow per trial and interval, if the run has faults
	BeliefsFile    = "beliefs.csv"     // a BeliefRow per trial, node and stretch, for runs about leaders
	LedgerFile     = "ledger.svg"      // the picture of beliefs.csv
	LatencyLog     = "latency.hlog"    // every latency histogram of every trial
	LatencyProfile = "latency.hgrm"    // the percentiles of the waits of all trials together
	VerdictFile    = "verdict.yaml"    // the verdict of every trial, with all findings
	MatrixFile     = "matrix.csv"      // in a set: a MatrixRow per algorithm and fault
	RecallFile     = "recall.csv"      // in a set: a RecallRow per known failure
	SplitBrainFile = "split-brain.csv" // in a set: a SplitBrainRow per scheme and partition
	FailoverFile   = "failover.csv"    // in a set: a FailoverRow per service, ttl and fault
	SumsFile       = "SHA256SUMS"      // in a published set: the digest of every other file
	PublishedRuns  = "runs"            // in a published set: the folder of its runs
	ReadmeFile     = "README.md"       // in a published set
	ReadmeBegins   = "\nRuns of Turnstile, "
	ArchiveSuffix  = ".tar.gz" // follows the name of a published set
	LatestLink     = "latest"  // in the folder of all sets: a link to the newest run
)

// A Folder is the folder of one run, or what the joined tables of a set have of a run.
type Folder struct {
	Path   string
	joined *joined // nil: the folder has files
}

// DiskSpace is how much disk space a run takes.
type DiskSpace struct {
	Bytes uint64
	For   string // the flags that determine how much space a run takes
}

// Create makes a new folder for a run, in the set named set below root. If name is taken, because
// another run began in the same second, the folder is called name-2 and so on. It is an error if the
// disk has too little space left for the run.
func Create(root, set, name string, need DiskSpace) (*Folder, error) {
	if err := cmp.Or(CheckNames(root, set), CheckNames(root, name)); err != nil {
		return nil, err
	}
	latest := filepath.Join(root, LatestLink)
	if info, err := os.Lstat(latest); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return nil, fmt.Errorf("%s is in the way: it has to be a link to the newest run; call it something else",
			latest)
	}
	parent := filepath.Join(root, set)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, unwritable(parent, err)
	}
	f := &Folder{Path: filepath.Join(parent, name)}
	for i := 2; ; i++ {
		err := os.Mkdir(f.Path, 0o755)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, unwritable(parent, err)
		}
		f.Path = filepath.Join(parent, fmt.Sprintf("%s-%d", name, i))
	}
	if err := f.probe(need); err != nil {
		os.Remove(f.Path)
		return nil, err
	}
	return f, nil
}

// CheckNames returns an error if root cannot be the folder of all result sets, or name cannot name a set or a
// run.
func CheckNames(root, name string) error {
	switch {
	case root == "":
		return errors.New("the folder of all result sets has no name: write . for this folder")
	case name == LatestLink:
		return fmt.Errorf("%q cannot name a set or a run: it stands for the newest run", name)
	case name == "" || name != filepath.Base(name) || strings.HasPrefix(name, "."):
		return fmt.Errorf("%q cannot name a set or a run: write a name without / or a leading dot", name)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(name):
		return fmt.Errorf("%q cannot name a set or a run: write a name of characters that are printed", name)
	}
	return nil
}

// probe returns an error, before a run begins, if its files could not be written.
func (f *Folder) probe(need DiskSpace) error {
	if err := Probe(f.Path); err != nil {
		return err
	}
	if free, known := disk.Free(f.Path); known && free < need.Bytes {
		return tooSmall{fmt.Errorf("the disk of %s has %d MB left, and a run with %s takes %d MB: %s",
			f.Path, free>>20, need.For, (need.Bytes-1)>>20+1, "free some, ask for less, or put the results elsewhere")}
	}
	return nil
}

// Hide renames the folder of a run that is to be made again: the folder is kept, but no longer counts as a
// run.
func (f *Folder) Hide() error {
	for i := 1; ; i++ {
		path := filepath.Join(filepath.Dir(f.Path), fmt.Sprintf(".%s-%d", f.Name(), i))
		if !exists(path) {
			return os.Rename(f.Path, path)
		}
	}
}

// Hold locks the folder until release is called or this process, which makes the run, ends.
func (f *Folder) Hold() (release func() error, err error) {
	dir, err := os.Open(f.Path)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	lock(dir) // the result is ignored: without locks, Held returns an error
	return dir.Close, nil
}

// Held reports whether a process holds the folder. It returns an error if the system cannot tell.
func (f *Folder) Held() (bool, error) {
	dir, err := os.Open(f.Path)
	if err != nil {
		return false, fmt.Errorf("reading results: %w", err)
	}
	defer dir.Close()
	if !canLock {
		return false, errors.New("this system cannot tell whether its orchestrator lives")
	}
	return lock(dir)
}

// Name returns the name of the run.
func (f *Folder) Name() string { return filepath.Base(f.Path) }

// Ref returns the name of the run as people write it: set/run.
func (f *Folder) Ref() string { return filepath.Base(filepath.Dir(f.Path)) + "/" + f.Name() }

// File returns the path of a file in the folder.
func (f *Folder) File(name string) string { return filepath.Join(f.Path, name) }

// HistoryFile returns the path of the file in which history.Store writes the history of a trial.
func (f *Folder) HistoryFile(trial int) string { return f.File(fmt.Sprintf("history-%d.zst", trial)) }

// LogFolder returns the path of the folder in which the nodes of a trial write their logs. The folder exists
// while the trial runs, and afterwards only if the orchestrator was killed before it had stored the logs.
func (f *Folder) LogFolder(trial int) string { return f.File(fmt.Sprintf("trial-%d", trial)) }

// Histories returns the paths of the histories of all trials in order, up to the first trial without one.
// Each path is that of a stored history or of a folder of logs, for history.Open. If a trial has both, it is
// the path of the stored history, which was complete when it got its name.
func (f *Folder) Histories() []string {
	var paths []string
	for path := f.storedHistory(1); path != ""; path = f.storedHistory(len(paths) + 1) {
		paths = append(paths, path)
	}
	return paths
}

// storedHistory returns the path of the history of a trial, as in Histories, or "" if it is missing.
func (f *Folder) storedHistory(trial int) string {
	for _, path := range []string{f.HistoryFile(trial), f.LogFolder(trial)} {
		if exists(path) {
			return path
		}
	}
	return ""
}

// History opens the history of a trial, to read it.
func (f *Folder) History(trial int) (*history.Reader, error) {
	path := f.storedHistory(trial)
	if path == "" {
		return nil, fmt.Errorf("run %s has no history of trial %d: it has %d", f.Ref(), trial, len(f.Histories()))
	}
	return history.Open(path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// WriteText writes a text for people, such as a verdict, to a file of the folder.
func (f *Folder) WriteText(name, text string) error {
	return writeFile(f.File(name), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// Rows reads runs.csv. In published sets the columns of the given options may lack the name of the algorithm.
func (f *Folder) Rows(options ...string) ([]Row, error) {
	return readRows[Row](f, RowsFile, options...)
}

// Header returns the names of the columns of a stored table.
func (f *Folder) Header(name string) ([]string, error) {
	if f.Joined() {
		return headerOf(f.joined.tables[name]), nil
	}
	text, err := input.ReadFile(f.File(name), input.TableLimit)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	return headerOf(text), nil
}

// Messages reads messages.csv.
func (f *Folder) Messages() ([]MessageRow, error) { return readRows[MessageRow](f, MessagesFile) }

// Sizes reads sizes.csv. It returns nil if the run has no such file.
func (f *Folder) Sizes() ([]SizeRow, error) {
	if !f.has(SizesFile) {
		return nil, nil
	}
	return readRows[SizeRow](f, SizesFile)
}

// Resources reads resources.csv. It returns nil if the run has no such file.
func (f *Folder) Resources() ([]ResourceRow, error) {
	if !f.has(ResourcesFile) {
		return nil, nil
	}
	return readRows[ResourceRow](f, ResourcesFile)
}

// Faults reads faults.csv and timeline.csv. It returns nil for both if the run has neither. Joined tables may
// lack timeline.csv.
func (f *Folder) Faults() (faults []FaultRow, timeline []IntervalRow, err error) {
	if !f.has(FaultsFile) && !f.has(TimelineFile) {
		return nil, nil, nil
	}
	phases, err := readRows[PhaseRow](f, FaultsFile)
	if err != nil {
		return nil, nil, err
	}
	if f.Joined() && !f.has(TimelineFile) {
		return faultRows(phases), nil, nil
	}
	timeline, err = readRows[IntervalRow](f, TimelineFile)
	return faultRows(phases), timeline, err
}

// Beliefs reads beliefs.csv. It returns nil if the run has no such file.
func (f *Folder) Beliefs() ([]BeliefRow, error) {
	if !f.has(BeliefsFile) {
		return nil, nil
	}
	return readRows[BeliefRow](f, BeliefsFile)
}

func readRows[T any](f *Folder, name string, options ...string) ([]T, error) {
	file, err := f.open(name)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	defer file.Close()
	return readTable[T](f.File(name), file, options...)
}

// WriteYAML writes run.yaml: the parameters and results of the run. The last line of the file is a checksum
// of the other lines.
func (f *Folder) WriteYAML(v any) error {
	return writeFile(f.File(RunFile), func(w io.Writer) error { return writeSealed(w, v) })
}

func writeSealed(w io.Writer, v any) error {
	return seal(w, func(w io.Writer) error { return encode(w, v) })
}

// seal writes a text and, as its last line, its checksum.
func seal(w io.Writer, text func(w io.Writer) error) error {
	sum := crc32.New(castagnoli)
	if err := text(io.MultiWriter(w, sum)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s%08x\n", sealKey, sum.Sum32())
	return err
}

// encode writes a value as YAML.
func encode(w io.Writer, v any) error {
	out := yaml.NewEncoder(w)
	out.SetIndent(2)
	return errors.Join(out.Encode(v), out.Close())
}

// encodeList writes a list as YAML, a part at a time, since an encoder keeps half a kilobyte for each scalar.
func encodeList[T any](w io.Writer, list []T) error {
	const part = 64
	for len(list) > part {
		if err := encode(w, list[:part]); err != nil {
			return err
		}
		list = list[part:]
	}
	return encode(w, list)
}

// ReadYAML reads run.yaml into v. A wrong checksum is an error: the run would be judged by the wrong
// parameters. An unknown key is an error too: the run could not be made again without the key.
func (f *Folder) ReadYAML(v any) error { return f.readYAML(RunFile, v) }

// ReadVerdicts reads verdict.yaml into v, a pointer to a slice. It returns the same errors as ReadYAML.
func (f *Folder) ReadVerdicts(v any) error { return f.readYAML(VerdictFile, v) }

func (f *Folder) readYAML(name string, v any) error {
	path := f.File(name)
	b, err := input.ReadFile(path, input.RecordLimit)
	if err != nil {
		return fmt.Errorf("reading results: %w", err)
	}
	if name == RunFile {
		err = checkFormat(b, RunFormat)
	}
	if err == nil {
		b, err = unsealed(b)
	}
	if err == nil {
		err = yamlfile.Decode(b, v)
	}
	if err == io.EOF {
		return fmt.Errorf("reading %s: the file is empty", path)
	} else if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}

// writeFile creates the file at path with the output of write. The file appears whole or not at all, even if
// the process dies, and is on the disk when writeFile returns.
func writeFile(path string, write func(w io.Writer) error) error {
	if err := placeFile(path, write); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// placeFile is writeFile, except that the name of the file is on the disk only after syncDir.
func placeFile(path string, write func(w io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = mark(fmt.Errorf("writing %s: %w", path, err))
		}
	}()
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(file)
	if err = write(buffered); err == nil {
		err = errors.Join(buffered.Flush(), file.Chmod(0o644), file.Sync())
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

// WriteFile creates the file at path with the output of write, whole or not at all. If path exists and is not
// a regular file but, for instance, a device, WriteFile writes to it.
func WriteFile(path string, write func(w io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(file), file.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return writeFile(path, write)
}

// WriteSetTable writes a table into a file of the given name in the folder of a set, and returns the path of
// the file.
func WriteSetTable[T any](root, set, name string, rows []T) (path string, err error) {
	path = filepath.Join(root, set, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return path, unwritable(filepath.Dir(path), err)
	}
	return path, writeFile(path, func(w io.Writer) error { return WriteTable(w, rows) })
}

// Probe returns an error if no files can be written in a folder.
func Probe(dir string) error {
	file, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return unwritable(dir, err)
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString("probe"); err != nil {
		return errors.Join(unwritable(dir, err), file.Close())
	}
	return file.Close()
}

func unwritable(dir string, err error) error {
	hint := "make that folder writable, or put the results elsewhere"
	if IsFull(err) {
		hint = "free some space, or put the results elsewhere"
	}
	return mark(fmt.Errorf("results cannot be written to %s: %s: %w", dir, hint, err))
}

// Unwritable reports whether an error means that results can be written to no file of a folder: the disk is
// full or read-only, or this user may not write there.
func Unwritable(err error) bool {
	return IsFull(err) || errors.Is(err, syscall.EROFS) || errors.As(err, &forbidden{})
}

// forbidden marks an error of writing for which the user has no permission.
type forbidden struct{ error }

func (f forbidden) Unwrap() error { return f.error }

// mark marks an error of writing if permission was lacking.
func mark(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return forbidden{err}
	}
	return err
}

// IsFull reports whether an error means that a disk or a user's quota is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// tooSmall is the error of a disk that has less space left than a run takes.
type tooSmall struct{ error }

func (tooSmall) Is(target error) bool { return target == syscall.ENOSPC }

// Sync makes the names of the files in the folder durable.
func (f *Folder) Sync() error { return syncDir(f.Path) }

// syncDir makes the names of the files in a folder durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// RunFormat is the format of run.yaml and of the files beside it.
const RunFormat = 6

// checkFormat returns an error if the text of a run.yaml or set.yaml has another format. The error names the
// commit that wrote the file, which can read it.
func checkFormat(text []byte, format int) error {
	if bytes.HasPrefix(text, fmt.Appendf(nil, "format: %d\n", format)) {
		return nil // the fast path, since a set may have thousands of runs
	}
	type making struct {
		Format   int               `yaml:"format"`
		Versions map[string]string `yaml:"versions"`
	}
	var file struct {
		making `yaml:",inline"`
		Made   []making `yaml:"made"`
	}
	if yaml.Unmarshal(text, &file) != nil || file.Format == 0 || file.Format == format {
		return nil // the caller reports what else is wrong
	}
	for _, m := range file.Made {
		file.Versions = m.Versions
	}
	return LackError{fmt.Errorf("it is of format %d, and this Turnstile reads format %d: %s reads it",
		file.Format, format, Maker(file.Versions))}
}

// A LackError is the error of a run that this Turnstile cannot read or judge, since this Turnstile lacks the
// format, an algorithm or an option of the run. The run itself may be right. The error names a version that
// has what is lacking.
type LackError struct{ Err error }

func (e LackError) Error() string { return e.Err.Error() }

func (e LackError) Unwrap() error { return e.Err }

// Maker returns a name for the program that wrote a record, given the versions in the record: its commit if
// known.
func Maker(versions map[string]string) string {
	if commit, _, _ := strings.Cut(versions["revision"], ","); commit != "" {
		return "commit " + commit
	}
	return "Turnstile " + versions["turnstile"]
}

// sealKey begins the last line of a file that has a checksum.
const sealKey = "checksum: "

// Sealed returns a YAML text with one more line: the CRC-32C of the text.
func Sealed(text []byte) []byte {
	return fmt.Appendf(bytes.Clone(text), "%s%08x\n", sealKey, checksum(text))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// unsealed returns the text that Sealed was given. It returns an error if the text, or its last line, was
// changed.
func unsealed(b []byte) ([]byte, error) {
	at := bytes.LastIndex(b, []byte("\n"+sealKey)) + 1
	switch text := b[:at]; {
	case len(b) == 0:
		return b, nil // the caller reports an empty file
	case at == 0:
		return nil, errors.New("it does not end with its checksum: it was cut off")
	case !bytes.Equal(b, Sealed(text)):
		return nil, errors.New("its checksum is wrong: it was changed after it was written")
	default:
		return text, nil
	}
}

// The words for a run or a trial that was not completed, in all outputs.
const (
	// Unfinished is a run without a recorded end.
	Unfinished = "unfinished"
	// OrchestratorGone is the reason of Unfinished.
	OrchestratorGone = "the orchestrator ended before the run did, or is still running"
	// Interrupted is the reason of the verdict of a trial that the user ended.
	Interrupted = "interrupted"
)

// UnfinishedSays describes an unfinished run.
const UnfinishedSays = Unfinished + ": " + OrchestratorGone

// VerdictText returns the verdict of a trial, with a mark if the user has ended the trial.
func (r *Row) VerdictText() string {
	if r.Reason == Interrupted {
		return r.Verdict + " (" + Interrupted + ")"
	}
	return r.Verdict
}
