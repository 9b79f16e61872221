package model

import "time"

// ScriptVersion is one text that a script job has had.
type ScriptVersion struct {
	ID      int // 0 = the current text, which no history knows
	JobID   int
	Type    GlueType
	Source  string // not loaded by lists
	Remark  string
	Author  string // who saved it, "" = unknown: a Java admin does not say
	Bytes   int64  // length of the source
	AddTime time.Time
}
