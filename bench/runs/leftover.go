package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"turnstile/hosts/control"
	"turnstile/results"
)

// A Leftover is the folder of a run that was never finished, and that no orchestrator is making any more.
type Leftover struct {
	*results.Folder
	Bytes uint64 // size of its files
	Why   string
}

// Leftovers returns the unfinished runs in some sets. Spared has the runs that may be unfinished but are
// kept, with the reason: the run is still being made, or this cannot be determined.
func Leftovers(root string, sets []string) (left []Leftover, spared map[string]string) {
	spared = map[string]string{}
	for _, set := range sets {
		for _, folder := range results.Made(root, set) {
			switch why, err := leftBy(folder); {
			case err != nil:
				spared[folder.Ref()] = err.Error()
			case why != "":
				left = append(left, Leftover{folder, bytesIn(folder.Path), why})
			}
		}
	}
	return left, spared
}

// leftBy returns why a run is left over, or "" if it is finished. It returns an error if the run is still
// being made, or if this cannot be determined.
func leftBy(folder *results.Folder) (why string, err error) {
	record, err := ReadRecord(folder)
	switch {
	case err != nil && folder.SetAside():
		return "", fmt.Errorf("it was set aside, and may have been finished: %w", err)
	case err != nil:
		return "", nil // run.yaml is damaged, which the list of runs reports
	case folder.SetAside() && record.CutShort():
		why = "set aside by a sweep, which made it again"
	case record.Unfinished():
		why = results.Unfinished + ": its orchestrator was killed"
	default:
		return "", nil
	}
	return why, goesOn(folder)
}

// goesOn returns an error if a run is still being made, or if this cannot be determined.
func goesOn(folder *results.Folder) error {
	switch held, err := folder.Held(); {
	case err != nil:
		return fmt.Errorf("whether it goes on is not known: %w", err)
	case held:
		return errors.New("it goes on")
	}
	client, err := control.Dial(folder.Path)
	switch {
	case errors.Is(err, control.ErrNone), errors.Is(err, control.ErrGone):
		return nil
	case err != nil:
		return fmt.Errorf("whether it goes on is not known: %w", err)
	}
	return errors.Join(errors.New("it goes on"), client.Close())
}

// Remove removes the folder, unless the run has been taken up again. It removes nothing outside root, even
// through links.
func (l *Leftover) Remove(root string) error {
	if why, err := leftBy(l.Folder); err != nil || why == "" {
		return errors.Join(fmt.Errorf("%s is kept: it has changed meanwhile", l.Ref()), err)
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	return errors.Join(dir.RemoveAll(l.Ref()), dir.Close())
}

// bytesIn returns the total size of the files below a folder. It follows no links.
func bytesIn(path string) (sum uint64) {
	filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // unreadable files count as empty
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += uint64(info.Size())
		}
		return nil
	})
	return sum
}
