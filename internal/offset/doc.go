// Package offset measures how far the clock of one host is from that of another, the reference, and turns
// times of the one into times of the other, with a bound on the error.
//
// An [Exchange] bounds the offset, the host's clock less the reference's: by these clocks, the request took
// its time and the offset, the answer its time less the offset, and no time is negative. So the bound
// is half of the round trip. Before and after an exchange the bound grows by [Drift] of the time to it, since
// no two clocks run apart faster. An [Estimator] intersects what all exchanges say, those before a moment and
// those after it: its bound is that of the best exchange or less.
//
// If what an exchange says has nothing in common with what the earlier ones leave possible, the host's
// clock has jumped: CLOCK_MONOTONIC stands still while a machine is suspended, and a virtual machine that
// is moved may gain time. Then the offset between the last exchange that contradicts it and this one is
// unknown.
//
// All times are in nanoseconds of the monotonic clock that they are read from.
package offset
