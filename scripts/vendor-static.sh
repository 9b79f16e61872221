#!/bin/sh
# Fetches the third-party browser code into static/vendor and builds the icon
# sprite. Run it only to move to another version: change the pins, run, review
# the diff, commit. Neither building nor running Carillon needs npm.
#
# Usage: scripts/vendor-static.sh        (needs npm, node, go, tar, sed)
set -eu

HTMX=2.0.11
IDIOMORPH=0.8.0
TABLER=1.6.1
ICONS=3.51.0

# Only icons that a page uses: a test compares this list with the views.
ICON_NAMES="arrow-bar-down bell-ringing bolt book bookmark chart-bar chevron-left chevron-right
circle-check clock-play columns-3 copy dots-vertical download history home key
language list-details logout menu-2 moon pencil player-play player-stop plus printer
repeat search server star sun terminal-2 text-wrap trash user users"

root=$(cd "$(dirname "$0")/.." && pwd)
vendor=$root/static/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fetch NAME VERSION FOLDER: unpack a package into $work/FOLDER
fetch() {
	mkdir -p "$work/$3"
	(cd "$work/$3" && npm pack --silent "$1@$2" >/dev/null && tar xzf ./*.tgz --strip-components=1)
}

# keep FOLDER VERSION FILE...: copy files, licence and version note
keep() {
	folder=$1 version=$2
	shift 2
	rm -rf "${vendor:?}/$folder" && mkdir -p "$vendor/$folder"
	for f in "$@"; do cp "$work/$folder/$f" "$vendor/$folder/"; done
	if [ -f "$work/$folder/LICENSE" ]; then cp "$work/$folder/LICENSE" "$vendor/$folder/LICENSE"; fi
	echo "$version" >"$vendor/$folder/VERSION"
}

fetch htmx.org $HTMX htmx
keep htmx $HTMX dist/htmx.min.js
fetch idiomorph $IDIOMORPH idiomorph
keep idiomorph $IDIOMORPH dist/idiomorph-ext.min.js
fetch @tabler/core $TABLER tabler
keep tabler $TABLER dist/css/tabler.min.css
sed -i 's|/\*# sourceMappingURL=.*\*/||' "$vendor/tabler/tabler.min.css"
# The core package carries no licence file; its icons, by the same author and
# under the same MIT licence, do.
fetch @tabler/icons $ICONS icons
cp "$work/icons/LICENSE" "$vendor/tabler/LICENSE"
keep icons $ICONS

# CodeMirror comes in many small packages: they are bundled into one file, with the
# esbuild that go.mod pins. Versions stand in scripts/codemirror.
cp "$root"/scripts/codemirror/* "$work/"
(cd "$work" && npm ci --silent --no-audit --no-fund --ignore-scripts)
editor=$vendor/codemirror
rm -rf "$editor" && mkdir -p "$editor"
(cd "$root" && go build -o "$work/esbuild" github.com/evanw/esbuild/cmd/esbuild)
"$work/esbuild" "$work/editor.js" --bundle --minify --format=esm --target=es2022 --legal-comments=none \
	--log-level=warning --outfile="$editor/codemirror.min.js"
for folder in "$work"/node_modules/*/package.json "$work"/node_modules/@*/*/package.json; do
	node -p 'const p = require(process.argv[1]); p.name + " " + p.version' "$folder"
done | sort >"$editor/VERSION"
for licence in "$work"/node_modules/*/LICENSE "$work"/node_modules/@*/*/LICENSE; do
	folder=${licence%/LICENSE}
	echo "== ${folder#"$work"/node_modules/}" && cat "$licence" && echo
done >"$editor/LICENSE"

sprite=$vendor/icons/icons.svg
echo '<svg xmlns="http://www.w3.org/2000/svg">' >"$sprite"
for name in $ICON_NAMES; do
	[ -f "$work/icons/icons/outline/$name.svg" ] || { echo "no icon called $name" >&2; exit 1; }
	# One symbol per icon; stroke and fill come from the page's style sheet.
	body=$(tr '\n' ' ' <"$work/icons/icons/outline/$name.svg" |
		sed -e 's/<!--.*-->//' -e 's/^[^<]*<svg[^>]*>//' -e 's/<\/svg>.*$//' \
			-e 's/<path stroke="none" d="M0 0h24v24H0z" fill="none" *\/>//' -e 's/> *</></g')
	echo "<symbol id=\"$name\" viewBox=\"0 0 24 24\">$body</symbol>" >>"$sprite"
done
echo '</svg>' >>"$sprite"
