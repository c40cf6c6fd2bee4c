// Unit measures how fast this machine is: the CPU time of a fixed unit of work. It is printed beside times of
// tests, since a machine with shared cores takes more CPU time for the same work.
//
//	unit                  does 20 units and prints the time of one
//	unit COMMAND ARG...   runs the command, does a unit each second meanwhile, and prints both times at the end
package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

const (
	alone   = 20          // number of units, if there is no command
	between = time.Second // from one unit to the next during a command: units take less than a hundredth of it
)

func main() {
	if len(os.Args) == 1 {
		var took time.Duration
		for range alone {
			took += timeUnit()
		}
		fmt.Printf("a unit of work takes %s of CPU time\n", millis(took/alone))
		return
	}
	os.Exit(beside(os.Args[1], os.Args[2:]))
}

// beside runs a command and returns its exit status.
func beside(name string, args []string) int {
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	took, units := timeUnit(), 1
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			took, units = took+timeUnit(), units+1
		case s := <-signals:
			cmd.Process.Signal(s) // the signal ends the command, and then this program ends
		case err := <-over:
			fmt.Printf("took %v; a unit of work took %s of CPU time meanwhile\n",
				time.Since(begin).Round(time.Second), millis(took/time.Duration(units)))
			return status(err)
		}
	}
}

// status returns the exit status of a command, 1 if a signal ended it.
func status(err error) int {
	exit := &exec.ExitError{}
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode()
	}
	return 1
}

// timeUnit does a unit of work and returns the CPU time that it took.
func timeUnit() time.Duration {
	before := ownTime()
	doUnit()
	return ownTime() - before
}

// ownTime returns the CPU time of this process, without its children.
func ownTime() time.Duration {
	var own syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &own))
	return time.Duration(own.Utime.Nano() + own.Stime.Nano())
}

// doUnit does the work that tests mostly do, in about equal parts: computing, touching fresh memory, and
// system calls.
func doUnit() {
	block := make([]byte, 1<<20)
	for at := range block {
		block[at] = byte(at)
	}
	sha256.Sum256(block)
	squares := map[int]int{}
	for n := range 30_000 {
		squares[n] = n * n
	}
	read, write, err := os.Pipe()
	check(err)
	defer read.Close()
	defer write.Close()
	for range 1000 {
		_, err := write.Write(block[:100])
		check(err)
		_, err = read.Read(block[:100])
		check(err)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "measuring a unit of work:", err)
		os.Exit(1)
	}
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }
