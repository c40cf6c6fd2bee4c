//go:build !linux

package agent

import "errors"

func asFileUser(*Account) error { return errors.New("--run-as takes Linux") }
