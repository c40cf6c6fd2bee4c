package results

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
)

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
		return nil, errors.New("it does not end with its checksum: it was cut off, or an older Turnstile " +
			"wrote it, whose result sets this one does not read")
	case !bytes.Equal(b, Sealed(text)):
		return nil, errors.New("its checksum is another: it was changed after it was written")
	default:
		return text, nil
	}
}
