// Package proc supervises processes: it starts them, signals them, keeps their output, and knows how they
// ended.
//
// A [Launcher] starts all processes from one thread. The kernel kills each of them when this process ends. A
// process reads orders from its standard input. No thread waits for its end. When it ends, the launcher kills
// the other processes of its group, unless this process was killed before. [Output] runs a short program. A
// [Guard] kills processes or removes a folder if this process ends first.
package proc
