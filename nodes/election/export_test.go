package election

// UnsavedMutants are the mutants of what a node saves that campaigns of random plans find too.
var UnsavedMutants = unsavedMutants
