//go:build !linux && !darwin

package disk

// Free returns how many bytes are left on the disk that holds path, and whether this is known.
func Free(string) (uint64, bool) { return 0, false }
