package main

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"turnstile/internal/terminal"
)

//go:embed plugin/count.c
var plugin []byte

// emulator returns the name of QEMU's user mode for this machine, which has another name in Go.
func emulator() string {
	names := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}
	return "qemu-" + cmp.Or(names[runtime.GOARCH], runtime.GOARCH)
}

// byQEMU has the meter count with QEMU's user mode and a plugin, which a C compiler builds.
func byQEMU(m *meter) error {
	m.unit, m.how = "instructions", "counted by QEMU, in runs of processes without the orchestrator"
	m.single = true
	err := installed(emulator(), "cc")
	if err == nil {
		err = m.load("1")
		if err != nil {
			err = m.load("2")
		}
	}
	if err != nil {
		return fmt.Errorf("QEMU does not count instructions: %w", err)
	}
	return nil
}

// load builds the plugin for a version of its interface, and returns an error unless QEMU counts with it.
func (m *meter) load(version string) error {
	built := filepath.Join(m.folder, "count.so")
	m.prefix = []string{emulator(), "-plugin", built + ",out=" + m.counts()}
	cc := m.command(m.folder, "cc", "-O2", "-shared", "-fPIC", "-DVERSION="+version, "-o", built, "-xc", "-")
	cc.Stdin = bytes.NewReader(plugin)
	if _, err := outputOf(cc); err != nil {
		return err
	}
	return m.try()
}

// countNodes makes a run with the arguments of a command, and returns the instructions of its nodes and its
// broker. QEMU does not run the orchestrator, which could start no process: QEMU 7 knows no CLONE_PIDFD.
func (m *meter) countNodes(t *tree, args []string) (float64, error) {
	os.Remove(m.counts())
	orchestrator, node := filepath.Join(t.bin, "orchestrator"), filepath.Join(m.folder, "node")
	script := "#!/bin/sh\nexec"
	for _, word := range m.prefixed(filepath.Join(t.bin, "node")) {
		script += " " + terminal.ShellQuoted(word)
	}
	if err := os.WriteFile(node, []byte(script+` "$@"`+"\n"), 0o700); err != nil {
		return 0, err
	}
	broker := m.command(t.folder, append(m.prefixed(orchestrator), "broker")...)
	broker.Env = append(os.Environ(), "GOMAXPROCS=1") // idle threads of more spin for times that differ
	url, err := startBroker(broker)
	if err != nil {
		return 0, err
	}
	run := slices.Concat([]string{orchestrator}, args, []string{"--nats=" + url, "--node-program=" + node})
	_, err = outputOf(m.command(t.folder, run...))
	broker.Process.Signal(os.Interrupt)
	if err = errors.Join(err, broker.Wait()); err != nil {
		return 0, err
	}
	return m.counted()
}

// startBroker starts a broker, and returns the URL that it prints.
func startBroker(broker *exec.Cmd) (url string, err error) {
	out, err := broker.StdoutPipe()
	if err == nil {
		err = broker.Start()
	}
	if err != nil {
		return "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the broker prints no URL: %w", errors.Join(err, broker.Wait()))
	}
	return strings.TrimSpace(line), nil
}
