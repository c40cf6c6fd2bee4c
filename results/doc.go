// Package results writes and reads result sets. The published sets are in this folder too.
//
// A set is a folder of runs, and a [Folder] is the folder of one run: [Create] makes it, and [Open] finds it
// by its path, as set/run, by the name of the run, or as latest. A Folder holds run.yaml, tables, latency
// histograms and histories; docs/measures.md lists the files. Each file appears whole or not at all.
//
// The rows of tables are structs, such as [Row] and [PhaseRow]. Their tags are the headers of the columns,
// which columns.yaml explains. Files are read by their headers, so columns may be added anywhere. A table has
// the columns that concern any of its rows: the struct tag "of" says which rows a column concerns. A [Table]
// is a file that can be made again from the histories of a run: Folder.Write stores one, and Folder.Compare
// finds where the stored file differs.
//
// A [Ledger] has the beliefs of nodes about the leader in a trial; an [EventWriter] prints histories.
//
// The package knows no algorithm: rows have the names of their options, and callers name the options whose
// columns in published sets lack the algorithm. It judges nothing, and of run.yaml it knows only the format
// and the versions.
package results
