// Package leadership folds a history into who believed whom to lead, and from that into elections, their
// parts, and the time without a leader or with several. Measures and checks are made from the same fold. Who
// leads and who agrees at a moment is decided in nodes/leading.
//
// Only what a node says of itself makes it a leader. It leads from when it declares so until it declares
// another or none, or until it is down. While it stands still it neither leads nor gives way: such time is
// counted apart.
package leadership
