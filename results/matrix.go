package results

import "path/filepath"

// Matrix reads matrix.csv of the set. The error is fs.ErrNotExist if it has none.
func (s *Set) Matrix() ([]MatrixRow, error) {
	return readRows[MatrixRow](filepath.Join(s.Path, MatrixFile))
}

// HasMatrix reports whether a set has matrix.csv.
func (s *Set) HasMatrix() bool { return exists(filepath.Join(s.Path, MatrixFile)) }
