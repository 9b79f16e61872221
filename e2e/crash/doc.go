// Package crash proves from outside that no planned instant is lost or made
// twice: real center processes are killed while jobs fire each second, and the
// rows in the database are compared with what reached a counting executor over
// the wire.
package crash
