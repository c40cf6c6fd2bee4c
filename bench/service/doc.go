// Package service is about locks and elections that people use: services such as etcd, whose servers a run
// starts and whose clients are foreign programs. A [Service] says how its servers start and how its clients
// use it.
//
// [Call] makes a program of a table of services: "describe NAME" says what a service promises, "client NAME"
// is the foreign program of one node, and "up NAME" starts servers and does what it is told by its standard
// input. [Launch] is the other end of that, for a run.
package service
