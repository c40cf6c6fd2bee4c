//go:build race

package soak

const racing = true
