package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carillon-scheduler/carillon/model"
)

func TestValidAddress(t *testing.T) {
	for _, ok := range []string{"http://10.0.0.1:9999/", "https://h/a/path", "http://[::1]:9999/"} {
		require.True(t, model.ValidAddress(ok), ok)
	}
	// What follows an empty query or fragment would not be the path that is called.
	for _, bad := range []string{
		"", "ftp://h/", "http://", "http://u:p@h/", "http://h/?a=1", "http://h/#a", "http://h/any/path#", "http://h/any/path?", "http://h?", "http://h/\xff", "http://a/,http://b/",
	} {
		require.False(t, model.ValidAddress(bad), "%q", bad)
	}
}
