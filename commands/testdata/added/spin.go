package local

var spin = lockService("spin", "a word that is tested and set, as test-and-set has it", atomics,
	"The compare-and-swap operation.", (*lock).testAndSet, (*lock).clear)
