// Package proc is the supervisor of processes: it starts them, signals them, keeps what they print, and knows
// how they ended.
//
// A [Launcher] starts all processes from one thread. The system kills each when this process ends. A process
// is told things by its standard input, and its end shows without a thread that waits for it. What it has
// started itself, and what is in its group, goes with it. [Output] runs a program for a moment, and a [Guard]
// does something if this process ends first.
package proc
