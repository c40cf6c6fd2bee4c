package mutex

import "embed"

// Stories are the schedules in testdata. Each shows one behaviour of a row: `simulate --replay`
// plays them wherever the program is.
//
//go:embed testdata/*/*.txt
var Stories embed.FS
