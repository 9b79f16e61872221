package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRightsInColumns(t *testing.T) {
	for _, c := range []struct{ permission, ours, wantPermission, wantOurs string }{
		{"", "", "", ""},
		{"1,2", "", "1,2", ""},
		{" 2 , x, 1,", "nonsense 3= =view 4=fly -1=edit 5=view", "1,2", "5=view"},
		{"", "*=operate 3=edit 4=edit+script 5=administer+script", "4", "*=operate 3=edit 5=administer+script"},
		{"7", "7=view", "7", ""}, // the Java admin gave more since
		{"7", "7=administer", "", "7=administer"},
	} {
		p, o := ParseRights(c.permission, c.ours).Columns()
		require.Equal(t, []string{c.wantPermission, c.wantOurs}, []string{p, o}, "%q %q", c.permission, c.ours)
	}
	many := Rights{Groups: map[int]Grant{}}
	for i := range 200 {
		many.Groups[1000+i] = Grant{LevelEdit, true}
	}
	p, o := many.Columns()
	require.LessOrEqual(t, len(p), MaxPermission)
	require.Equal(t, many.Groups, ParseRights(p, o).Groups, "what has no room in one column is in the other")
}

func TestWhatAnActorMay(t *testing.T) {
	old := User{ID: 2, Permission: "1,2"}
	a := old.Actor()
	require.True(t, a.May(LevelEdit, 1) && a.Scripts(2) && a.Sees(1))
	require.False(t, a.May(LevelAdminister, 1) || a.Sees(3) || a.Scripts(3))
	require.Equal(t, []int{1, 2}, a.GroupLimit())
	admin := User{ID: 1, Role: RoleAdmin}
	require.True(t, admin.Actor().May(LevelAdminister, 99) && admin.Actor().Scripts(99))
	require.Nil(t, admin.Actor().GroupLimit())
	none := User{ID: 3}
	require.NotNil(t, none.Actor().GroupLimit())
	require.Empty(t, none.Actor().GroupLimit())
	require.False(t, none.Actor().MaySomewhere(LevelView))
	whole := User{ID: 4, Rights: "*=view 3=operate"}
	require.Nil(t, whole.Actor().GroupLimit())
	require.True(t, whole.Actor().May(LevelOperate, 3) && whole.Actor().MaySomewhere(LevelOperate))
	require.False(t, whole.Actor().May(LevelOperate, 4))
	for _, l := range Levels() {
		require.Equal(t, l, ParseLevel(l.String()))
	}
	require.Equal(t, LevelNone, ParseLevel("fly"))
}
