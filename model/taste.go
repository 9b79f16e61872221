package model

import "strings"

// SavedFilter is a filter of a list that a person has kept under a name.
type SavedFilter struct {
	List  string // one of FilteredLists
	Name  string
	Query string // as it stands in the address
}

// FilteredLists are the lists whose filters can be kept.
func FilteredLists() []string { return []string{"jobs", "runs"} }

// Limits of what people keep for themselves.
const (
	MaxFilters      = 30 // of one list
	MaxFilterName   = 40 // characters
	MaxFilterQuery  = 1500
	MaxFavourites   = 500
	maxListsColumns = 500 // bytes
)

// ListColumn is a column of a list that people may show or not.
type ListColumn struct {
	Key    string
	Hidden bool // unless somebody wants it
}

// ListColumns gives the columns of a list that are a matter of taste, in their order.
func ListColumns(list string) []ListColumn {
	switch list {
	case "jobs":
		return []ListColumn{{"id", false}, {"schedule", false}, {"mode", false}, {"recent", false}, {"duration", true}, {"failures", true}, {"last", false}, {"next", false}}
	case "runs":
		return []ListColumn{{"late", false}, {"trigger", false}, {"address", false}, {"param", true}, {"duration", false}, {"message", false}}
	}
	return nil
}

// Columns is what a person wants otherwise than usual: words such as jobs+duration, jobs-mode.
type Columns string

// Shows reports whether a person wants a column of a list.
func (c Columns) Shows(list, key string) bool {
	for _, col := range ListColumns(list) {
		if col.Key == key {
			sign := "-"
			if col.Hidden {
				sign = "+"
			}
			return col.Hidden == c.has(list+sign+key)
		}
	}
	return true
}

func (c Columns) has(word string) bool {
	for w := range strings.FieldsSeq(string(c)) {
		if w == word {
			return true
		}
	}
	return false
}

// With gives the columns with those of one list replaced: the keys that are to be shown.
func (c Columns) With(list string, shown []string) Columns {
	var words []string
	for w := range strings.FieldsSeq(string(c)) {
		if !strings.HasPrefix(w, list+"+") && !strings.HasPrefix(w, list+"-") {
			words = append(words, w)
		}
	}
	for _, col := range ListColumns(list) {
		wanted := false
		for _, key := range shown {
			wanted = wanted || key == col.Key
		}
		switch {
		case wanted && col.Hidden:
			words = append(words, list+"+"+col.Key)
		case !wanted && !col.Hidden:
			words = append(words, list+"-"+col.Key)
		}
	}
	out := strings.Join(words, " ")
	return Columns(out[:min(len(out), maxListsColumns)])
}
