package model

import (
	"slices"
	"strings"
)

// Limits of tags.
const (
	MaxTags      = 10 // of one job
	MaxTagLength = 30 // characters of one tag
)

// TagList splits comma separated tags, of any width of comma. They are in small letters,
// with single blanks, in the order of the alphabet, each once.
func TagList(text string) []string {
	var out []string
	for tag := range strings.SplitSeq(strings.NewReplacer("，", ",", "、", ",").Replace(text), ",") {
		if tag = strings.ToLower(strings.Join(strings.Fields(tag), " ")); tag != "" {
			out = append(out, tag)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// JoinTags is the opposite of TagList.
func JoinTags(tags []string) string { return strings.Join(tags, ",") }
