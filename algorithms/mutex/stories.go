package mutex

import "embed"

// Stories are the schedules in testdata. Each shows one behaviour of an algorithm. They are part of the
// program, so `simulate --replay` plays them without a clone of the repository.
//
//go:embed testdata/*/*.txt
var Stories embed.FS
