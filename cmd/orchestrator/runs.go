package main

import "turnstile/results"

// runHelp says what RUN may be.
const runHelp = `RUN is the path of a run's folder, set/run, the name of the run alone, or latest (the
default).`

// openRun opens the run that the arguments name, or the latest.
func openRun(root string, args []string) (*results.Folder, error) {
	if len(args) == 0 {
		return results.Open(root, results.LatestLink)
	}
	return results.Open(root, args[0])
}
