// Gotest runs go test with the arguments that it is given. It prints the result of each package as soon as
// that is known and, whenever nothing was printed for a while, which tests are running; at the end, how long
// each package took, and which tests were skipped. With -budget FILE as its first arguments it fails if a
// package took more than twice the CPU time that the file grants it. Budgets are for a machine on which a
// fixed unit of work takes a certain CPU time; gotest measures what that takes here, and adapts them.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

const silence = 10 * time.Second // at most

func main() {
	if len(os.Args) > 2 && os.Args[1] == meterCommand {
		os.Exit(meter(os.Args[2], os.Args[3:]))
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) (exitStatus int) {
	var granted budgets
	if len(args) > 1 && args[0] == "-budget" {
		b, err := readBudgets(args[1])
		if err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		granted, args = b, args[2:]
	}
	m, err := newMeters()
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	defer m.remove()
	r, begin := report{out: stdout}, time.Now()
	exitStatus, err = follow(&r, append([]string{"test", "-json", "-exec", m.wrapper}, args...), stderr)
	if err == nil {
		err = m.read(r.over)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	r.printTimes(time.Since(begin))
	r.printSkipped()
	if over := granted.exceeded(r.over, r.speed().perUnit()); len(over) > 0 {
		for _, line := range over {
			fmt.Fprintln(stderr, line)
		}
		return 1
	}
	return exitStatus
}

// follow runs go, hands its lines to the report, and returns its exit status.
func follow(r *report, args []string, stderr io.Writer) (exitStatus int, err error) {
	cmd := exec.Command("go", args...)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 0, err
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	begin, tick := time.Now(), time.NewTicker(silence)
	for open := true; open; {
		var line string
		select {
		case line, open = <-lines:
			if open && r.take(line) {
				tick.Reset(silence)
			}
		case <-tick.C:
			fmt.Fprintf(stderr, "%s  %s\n", time.Since(begin).Round(time.Second), r.progress())
		}
	}
	cmd.Wait()
	return cmd.ProcessState.ExitCode(), nil
}
