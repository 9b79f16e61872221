package app

import "runtime/debug"

// Build says which program this is.
type Build struct{ Version, Build, Go string }

// BuildInfo reads what the Go toolchain wrote into the binary: the module
// version of a release, or the commit of a local build.
func BuildInfo() Build {
	b := Build{Version: "dev"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Go = info.GoVersion
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.Build = s.Value[:min(12, len(s.Value))] + b.Build
		case s.Key == "vcs.modified" && s.Value == "true":
			b.Build += "+changes"
		}
	}
	return b
}

// Version is the short version.
func Version() string { return BuildInfo().Version }
