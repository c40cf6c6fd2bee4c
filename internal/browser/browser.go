// Package browser opens files in the user's browser.
package browser

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Open opens a file in the user's browser, and does not wait for it. The error says why no browser is
// started.
func Open(path string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	} else if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return errors.New("there is no display")
	}
	program, err := exec.LookPath(opener)
	if err != nil {
		return fmt.Errorf("there is no %s", opener)
	}
	cmd := exec.Command(program, path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it lives on when this program is interrupted
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
