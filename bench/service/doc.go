// Package service has the locks and elections that people use: services such as etcd, whose servers a run
// starts and whose clients are foreign programs. A [Service] defines how its servers start and how its
// clients use it.
//
// [Call] makes a program from a table of services: "describe NAME" prints what a service promises, "client
// NAME" is the foreign program of one node, and "up NAME" starts servers and takes orders on its standard
// input. A run gives these orders by [Launch].
package service
