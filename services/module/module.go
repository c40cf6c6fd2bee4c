// Package module knows the versions of the modules that this program is built of.
package module

import "runtime/debug"

// Version returns a module of this program with its version, as in "example.org/client v1.2.3"; its path
// alone if the version is not known.
func Version(path string) string {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, d := range info.Deps {
			if d.Path == path {
				return path + " " + d.Version
			}
		}
	}
	return path
}
