// Package executor is the SDK for writing executors in Go: processes that run
// the jobs of a Carillon or any other xxl-job compatible scheduling center.
//
// An executor registers itself with its centers, takes runs over HTTP, runs
// them one at a time per job, keeps a log file per run that the console reads
// while it grows, and reports each result until a center has taken it.
//
// What has been accepted is kept in a journal in the data directory, so it
// survives the death of the process: at the next start, unsent results are
// sent, runs that were waiting are run (unless too old), and runs that were
// under way are reported as failed.
//
// The wire is described in reference: protocol.md; generations G2 to G4 are
// answered.
package executor
