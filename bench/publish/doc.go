// Package publish gives result sets away: [Make] makes a folder of a set, and an archive of the folder, which
// anyone can check with sha256sum and read without this program; [Check] says whether such a folder is whole
// and agrees with itself. docs/publishing.md lists its files.
package publish
