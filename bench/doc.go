// Command bench proves and measures a scheduling center from outside, as a
// user's site would see it: jobs are put into the xxl_job tables, executors
// register over the wire and count what reaches them, results are read back from
// the tables. It starts what it needs (database, centers, executors) or, with
// --center and --database, drives any center that speaks this protocol on these
// tables.
package main
