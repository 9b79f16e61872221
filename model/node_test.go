package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

func TestNodeState(t *testing.T) {
	for want, n := range map[model.NodeState]model.Node{
		model.NodeAlive:    {SilentMS: 4_000},
		model.NodeGone:     {SilentMS: 4_001, Leaving: true},
		model.NodeStopping: {SilentMS: 5, Leaving: true},
		model.NodeStopped:  {SilentMS: -1},
	} {
		require.Equal(t, want, n.State())
	}
}

func TestPlannerIsTheLivingNodeThatPlannedLast(t *testing.T) {
	a, b := model.Node{Name: "a", PlanMS: 5}, model.Node{Name: "b", PlanMS: 7}
	require.Equal(t, "b", model.Planner([]model.Node{a, b}))
	b.SilentMS = 11_000
	require.Empty(t, model.Planner([]model.Node{a, b}), "nobody has planned since")
	require.Empty(t, model.Planner([]model.Node{{Name: "c"}}))
}
