package model

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Level is what a person may do with an executor and its jobs; each level has
// those before it.
type Level int

// Levels.
const (
	LevelNone       Level = iota
	LevelView             // see jobs, runs and logs
	LevelOperate          // also run, start, stop, kill, take back
	LevelEdit             // also add, edit, delete, import
	LevelAdminister       // also the executor itself; as a whole: executors, users and the audit
)

// Levels lists what can be given, the least first.
func Levels() []Level { return []Level{LevelView, LevelOperate, LevelEdit, LevelAdminister} }

var levelNames = [...]string{"", "view", "operate", "edit", "administer"}

// String gives the stored word of a level; "" for none.
func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return ""
	}
	return levelNames[l]
}

// ParseLevel reads the word of a level; an unknown one is none.
func ParseLevel(s string) Level { return Level(max(0, slices.Index(levelNames[:], s))) }

// Grant is a level, and whether scripts may be changed where it allows to edit.
type Grant struct {
	Level   Level
	Scripts bool
}

// Rights are what a person who is no administrator may do: everywhere, and per executor.
type Rights struct {
	All    Grant
	Groups map[int]Grant
}

const scriptMark = "+script"

// ParseRights reads the columns of a user. Executors in the permission column may
// be edited with their scripts, as the Java admin means it; all other grants are in
// ours ("*=view 3=edit"). What cannot be read gives no right.
func ParseRights(permission, ours string) Rights {
	r := Rights{Groups: map[int]Grant{}}
	for part := range strings.FieldsSeq(ours) {
		where, what, _ := strings.Cut(part, "=")
		level, scripts := strings.CutSuffix(what, scriptMark)
		g := Grant{ParseLevel(level), scripts}
		if g.Level == LevelNone {
			continue
		}
		if where == "*" {
			r.All = g
		} else if id, err := strconv.Atoi(where); err == nil && id > 0 {
			r.Groups[id] = g
		}
	}
	for s := range strings.SplitSeq(permission, ",") {
		if id, err := strconv.Atoi(strings.TrimSpace(s)); err == nil && r.Groups[id].Level <= LevelEdit {
			r.Groups[id] = Grant{LevelEdit, true}
		}
	}
	return r
}

// MaxPermission is how many characters the permission column holds.
const MaxPermission = 255

// Columns gives the two columns that ParseRights reads. The permission column has only
// executors whose jobs may be edited with their scripts, so that a Java admin
// beside us gives nobody more than that; those for which it has no room are in ours.
func (r Rights) Columns() (permission, ours string) {
	var list []string
	if r.All.Level > LevelNone {
		list = append(list, "*="+r.All.text())
	}
	for _, id := range slices.Sorted(maps.Keys(r.Groups)) {
		g, more := r.Groups[id], ","+strconv.Itoa(id)
		if permission == "" {
			more = more[1:]
		}
		switch {
		case g.Level == LevelNone:
		case g == Grant{LevelEdit, true} && len(permission)+len(more) <= MaxPermission:
			permission += more
		default:
			list = append(list, strconv.Itoa(id)+"="+g.text())
		}
	}
	return permission, strings.Join(list, " ")
}

func (g Grant) text() string {
	if g.Scripts {
		return g.Level.String() + scriptMark
	}
	return g.Level.String()
}
