package results

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"go.yaml.in/yaml/v3"
)

// RunFormat is the format of run.yaml and of the files beside it.
const RunFormat = 6

// checkFormat returns an error if the text of a run.yaml or set.yaml is of another format. The error says
// what reads it: the commit that wrote it.
func checkFormat(text []byte, format int) error {
	if bytes.HasPrefix(text, fmt.Appendf(nil, "format: %d\n", format)) {
		return nil // without a look at the rest, since a set may have thousands of runs
	}
	type making struct {
		Format   int               `yaml:"format"`
		Versions map[string]string `yaml:"versions"`
	}
	var file struct {
		making `yaml:",inline"`
		Made   []making `yaml:"made"`
	}
	if yaml.Unmarshal(text, &file) != nil || file.Format == 0 || file.Format == format {
		return nil // whoever reads it finds what else is wrong
	}
	for _, m := range file.Made {
		file.Versions = m.Versions
	}
	return LackError{fmt.Errorf("it is of format %d, and this Turnstile reads format %d: %s reads it",
		file.Format, format, Maker(file.Versions))}
}

// A LackError is the error of a run that this Turnstile cannot read or judge, since it lacks its format, its
// algorithm, what runs beside that, or an option. The run is not wrong for that. The error names what has it.
type LackError struct{ Err error }

func (e LackError) Error() string { return e.Err.Error() }

func (e LackError) Unwrap() error { return e.Err }

// Maker names the program that made something, given the versions on record: its commit, if that is known.
func Maker(versions map[string]string) string {
	if commit, _, _ := strings.Cut(versions["revision"], ","); commit != "" {
		return "commit " + commit
	}
	return "Turnstile " + versions["turnstile"]
}

// sealKey begins the last line of a file that has a checksum.
const sealKey = "checksum: "

// Sealed returns a YAML text with one more line: the CRC-32C of the text.
func Sealed(text []byte) []byte {
	return fmt.Appendf(bytes.Clone(text), "%s%08x\n", sealKey, checksum(text))
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// unsealed returns the text that Sealed was given. It is an error if the text, or its last line, was changed.
func unsealed(b []byte) ([]byte, error) {
	at := bytes.LastIndex(b, []byte("\n"+sealKey)) + 1
	switch text := b[:at]; {
	case len(b) == 0:
		return b, nil // that it is empty says more
	case at == 0:
		return nil, errors.New("it does not end with its checksum: it was cut off")
	case !bytes.Equal(b, Sealed(text)):
		return nil, errors.New("its checksum is another: it was changed after it was written")
	default:
		return text, nil
	}
}
