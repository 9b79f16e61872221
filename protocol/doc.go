// Package protocol holds the JSON types of the wire between a scheduling center
// and its executors, in all generations (reference: protocol.md). Decoding is
// lenient where the field's clients are sloppy, encoding is a superset that
// every known client accepts.
package protocol

// Headers of the wire.
const (
	HeaderToken   = "XXL-JOB-ACCESS-TOKEN"
	HeaderAppName = "XXL-JOB-APPNAME" // G4 only; earlier generations ignore it
)

// Codes of the wire.
const (
	CodeSuccess = 200
	CodeFail    = 500
	CodeTimeout = 502
)

// RegistryGroupExecutor is the only registry group that executors use.
const RegistryGroupExecutor = "EXECUTOR"

// MaxBody is the largest request body in bytes that either side accepts
// (executors refuse more; reference: protocol.md 1.2).
const MaxBody = 5 << 20
