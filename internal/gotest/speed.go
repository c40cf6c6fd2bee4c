package main

import (
	"crypto/sha256"
	"os"
	"syscall"
	"time"
)

// A speed is how much CPU time the same piece of work took, each time that it was done. A machine whose cores
// are shared takes more of it for the same work, so budgets of CPU time are compared in units of that work.
type speed struct {
	cpu   time.Duration // of all units
	units int
}

// between is the time from one unit to the next, so that units take about a hundredth of the tests' time.
const between = time.Second

// measureSpeed does a unit of work now and then, beside the tests, until done is closed.
func measureSpeed(done <-chan struct{}) (s speed, err error) {
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		before, err := ownTime()
		if err == nil {
			err = doUnit()
		}
		if err != nil {
			return s, err
		}
		after, err := ownTime()
		if err != nil {
			return s, err
		}
		s.cpu, s.units = s.cpu+after-before, s.units+1
		select {
		case <-done:
			return s, nil
		case <-tick.C:
		}
	}
}

// perUnit returns the CPU time of one unit, 0 if none was done.
func (s speed) perUnit() time.Duration {
	if s.units == 0 {
		return 0
	}
	return s.cpu / time.Duration(s.units)
}

// ownTime returns the CPU time of this process, without that of its children.
func ownTime() (time.Duration, error) {
	var own syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &own)
	return time.Duration(own.Utime.Nano() + own.Stime.Nano()), err
}

// doUnit does what tests do most, in about equal parts: it computes, uses memory that it did not use before,
// and calls the kernel.
func doUnit() error {
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
	if err != nil {
		return err
	}
	defer read.Close()
	defer write.Close()
	for range 1000 {
		if _, err := write.Write(block[:100]); err != nil {
			return err
		}
		if _, err := read.Read(block[:100]); err != nil {
			return err
		}
	}
	return nil
}
