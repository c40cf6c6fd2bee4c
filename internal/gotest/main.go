// Gotest runs go test with the arguments that it is given. It prints the result of each package as soon as
// that is known and, whenever nothing was printed for a while, which tests are running.
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

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) (exitStatus int) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
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
	r, begin, tick := report{out: stdout}, time.Now(), time.NewTicker(silence)
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
	return cmd.ProcessState.ExitCode()
}
