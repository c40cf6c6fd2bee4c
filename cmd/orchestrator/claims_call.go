package main

import (
	"bytes"
	"context"
	"slices"
)

// callAlone calls the program within this one, as its arguments alone have it, and returns its exit status
// and all that it prints. Runs are stored in a folder of result sets.
func callAlone(ctx context.Context, args []string, results string) (status int, printed string) {
	stores := slices.Contains([]string{"simulate", "bench", "elect"}, args[0])
	if stores && !slices.Contains(args, "--replay") {
		args = append(slices.Clone(args), "--results", results)
	}
	var out bytes.Buffer
	status = run(context.WithValue(ctx, alone{}, true), args, &out, &out)
	return status, out.String()
}
