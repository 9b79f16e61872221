package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/alecthomas/kong"
)

// Output is where commands print: Out for results, Err for logs and errors.
type Output struct{ Out, Err io.Writer }

// Main runs one command and returns the exit code: 0, or 1 after one clear line
// on err.
func Main(ctx context.Context, args []string, out, errOut io.Writer) int {
	var cli CLI
	exited := -1
	parser, err := kong.New(&cli,
		kong.Name("carillon"), kong.Description("A scheduling center for xxl-job executors."),
		kong.DefaultEnvars("CARILLON"), kong.Writers(out, errOut),
		kong.Exit(func(code int) { exited = code; panic(errExit) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, Summary: true}),
	)
	if err != nil {
		fmt.Fprintln(errOut, "carillon:", err)
		return 1
	}
	kctx, err := parse(parser, args)
	if exited >= 0 {
		return exited // --help
	}
	if err == nil {
		level := cli.LogLevel
		switch {
		case level != "auto":
		case kctx.Command() == "demo":
			level = "error" // people who have a first look see where to look; its sample jobs fail on purpose
		default:
			level = "info"
		}
		log := newLogger(errOut, cli.LogFormat, level)
		kctx.BindTo(ctx, (*context.Context)(nil))
		kctx.Bind(log, &Output{Out: out, Err: errOut})
		err = kctx.Run()
	}
	if err != nil {
		fmt.Fprintln(errOut, "carillon:", oneLine(err))
		return 1
	}
	return 0
}

var errExit = errors.New("exit")

// parse turns the parser's wish to exit after --help into a return.
func parse(parser *kong.Kong, args []string) (ctx *kong.Context, err error) {
	defer func() {
		if p := recover(); p != nil && p != any(errExit) {
			panic(p)
		}
	}()
	return parser.Parse(args)
}

func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

func newLogger(w io.Writer, format, level string) *slog.Logger {
	var l slog.Level
	_ = l.UnmarshalText([]byte(level)) // the parser allows only known words
	opts := &slog.HandlerOptions{Level: l}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
