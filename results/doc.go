// Package results writes and reads result sets. The published sets are in this folder too.
//
// A set is a folder of runs, and a [Folder] the folder of one run: [Create] makes it, and [Open] finds it by
// a path, as set/run, by the name of the run, or as latest. It holds run.yaml, tables, latency histograms and
// histories; docs/measures.md lists the files. Each appears whole or not at all.
//
// The rows of tables are structs, such as [Row] and [PhaseRow]. Their tags are the headers of the columns,
// which columns.yaml explains. Files are read by their headers, so columns may be added anywhere. A table has
// the columns that concern any of its rows, by the tag of. A [Table] is a file that can be made again from
// the histories of a run: Folder.Write stores one, and Folder.Compare finds where the stored file differs.
//
// A [Ledger] has the beliefs of nodes about the leader in a trial; an [EventWriter] prints histories.
//
// It knows no algorithm: rows have the names of their options, and callers name options whose columns in
// published sets lack the algorithm. It judges nothing, and knows only format and version of run.yaml.
package results
