// Package page makes a page of a set of runs: tables and pictures of what the trials have measured, as one
// HTML file that needs nothing else, and the same as Markdown.
//
// [Make] reads the set and returns a [Page], which is data: sections of texts, tables and figures.
// [Page.Write] writes it. Only valid trials enter medians, curves and ranks; the number of other trials is
// shown beside them.
package page
