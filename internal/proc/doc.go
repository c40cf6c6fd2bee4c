// Package proc is the supervisor of processes: it starts them, signals them, keeps what they print, and knows
// how they ended.
//
// A [Launcher] starts all processes from one thread. The kernel kills each of them when this process ends. A
// process reads orders from its standard input. No thread waits for its end. When it ends, the launcher kills
// the other processes of its group; if this process was killed before, nobody does. [Output] runs a program
// for a moment. A [Guard] kills processes or removes a folder if this process ends first.
package proc
