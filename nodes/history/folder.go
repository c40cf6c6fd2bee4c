package history

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"turnstile/internal/heap"
	"turnstile/nodes"
)

// logPattern matches the names of the logs in the folder of a trial.
const logPattern = "*.log"

// A folder is a folder of logs while it is read: it merges them, reading each from its beginning to its end.
type folder struct {
	files   []*os.File
	readers []*logReader
	nodes   int             // that left logs, or are known to those that did; if none did, those in events
	heads   heap.Heap[head] // of those logs that have another event, the earliest first
	err     error
	clocks  []Clock // of hosts that do not have the orchestrator's
	bounds  []Event // on the errors of stamps, that have not been read
}

// A head is the next event of one log of a merge. It has its own copy of the time, so that to compare two
// heads reads little memory.
type head struct {
	at  int64 // of the next event
	log int32
}

func (h *head) before(other *head) bool {
	return h.at < other.at || h.at == other.at && h.log < other.log
}

// How many bytes the buffers of all logs of a folder take together, and each at least.
const (
	buffersLen  = 32 << 20
	bufferLeast = 4 << 10
)

// openFolder opens the logs of a folder, except those whose process died before they had begun.
func openFolder(dir string) (*folder, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		ok, _ := filepath.Match(logPattern, e.Name())
		return !ok
	})
	f := &folder{heads: heap.New((*head).before)}
	size := min(pageLen, max(bufferLeast, buffersLen/max(1, len(entries))))
	for _, entry := range entries {
		if err := f.open(filepath.Join(dir, entry.Name()), size); err != nil {
			return nil, errors.Join(err, f.close())
		}
	}
	if len(f.readers) == 0 {
		return nil, fmt.Errorf("%s holds no logs", dir)
	}
	slices.SortStableFunc(f.readers, func(a, b *logReader) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Incarnation, b.Incarnation))
	})
	if err := f.belong(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	clocks, err := readClocks(dir, f.readers[0].origin)
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	f.correct(clocks)
	if f.nodes = headerOf(f.logs()).Nodes; f.nodes == 0 {
		f.nodes = f.named()
	}
	for i, l := range f.readers {
		switch more, err := l.next(); {
		case err != nil:
			return nil, errors.Join(err, f.close())
		case more:
			f.heads.Push(head{l.event.At, int32(i)})
		}
	}
	if f.heads.Len() > 0 {
		f.bound(f.heads.First().at)
	}
	return f, nil
}

// mostNamed is more than there are nodes of processes in a run.
const mostNamed = 1 << 16

// named returns how many nodes there are by what others have recorded of them, as when all logs of nodes
// are on hosts that are gone. What cannot be read is left to next.
func (f *folder) named() (count int) {
	for _, file := range f.files {
		r := io.NewSectionReader(file, 0, math.MaxInt64)
		l, err := newLogReader(file.Name(), math.MaxInt64, r, pageLen)
		for more := err == nil; more && err == nil; {
			if more, err = l.next(); more && l.event.Node < mostNamed {
				count = max(count, int(l.event.Node)+1)
			}
		}
	}
	return count
}

// belong checks that the logs are those of one trial, each of another process.
func (f *folder) belong() error {
	for i, l := range f.readers[1:] {
		switch before := f.readers[i]; {
		case l.Node == before.Node && l.Incarnation == before.Incarnation:
			return l.fail(0, "this is a log of node %d, and so is %s", l.Node, before.name)
		case l.origin != before.origin:
			return l.fail(0, "this log is of another trial than %s", before.name)
		}
	}
	return nil
}

// open opens the log at path, if it has begun.
func (f *folder) open(path string, size int) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	f.files = append(f.files, file)
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if there, err := begun(file); !there {
		return err
	}
	l, err := newLogReader(path, info.Size(), file, size)
	if err == nil {
		f.readers = append(f.readers, l)
	}
	return err
}

// begun reports whether a log has its preamble. If its process died before, it has no magic yet, and nothing
// after the preamble.
func begun(log io.ReaderAt) (bool, error) {
	for _, r := range []*io.SectionReader{
		io.NewSectionReader(log, 0, int64(len(magic))),
		io.NewSectionReader(log, preambleLen, math.MaxInt64-preambleLen),
	} {
		if zeros, err := onlyZeros(r); !zeros || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// next reads the next event of all: the earliest, of equal ones that of the first log.
func (f *folder) next(e *Event) (bool, error) {
	if f.err != nil || f.heads.Len() == 0 {
		return false, f.err
	}
	first := f.heads.First()
	if len(f.bounds) > 0 && f.bounds[0].At <= first.at {
		*e, f.bounds = f.bounds[0], f.bounds[1:]
		return true, nil
	}
	l := f.readers[first.log]
	*e = l.event
	if e.Node < nodes.None || int(e.Node) >= f.nodes {
		return false, l.fail(l.offset(l.count-1), "the event is one of node %d, and there are %d", e.Node, f.nodes)
	}
	more, err := l.next()
	f.err = err // for the next call: this event is whole
	if more {
		first.at = l.event.At
		f.heads.Fix()
	} else {
		f.heads.Pop()
	}
	return true, nil
}

func (f *folder) logs() (logs []*NodeLog) {
	for _, l := range f.readers {
		logs = append(logs, &l.NodeLog)
	}
	return logs
}

func (f *folder) close() (err error) {
	for _, file := range f.files {
		err = errors.Join(err, file.Close())
	}
	return err
}
