// Package disk says how much space disks have.
package disk
