#!/usr/bin/env bash
# Gets what the tests need beyond Go: a MariaDB server, Chromium, fonts, Python
# and, into .tools, from npm the Playwright driver and the packages of
# e2e/package.json, from PyPI those of mail/testdata/requirements.txt. It may run again and again: what is there is left alone. On
# Debian and Ubuntu as root it installs what is missing; elsewhere it says what
# to install and ends with 1.
#
# Usage: scripts/setup.sh
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin # where distributions hide servers from ordinary users

has() { command -v "$1" >/dev/null 2>&1; }
any() { for name in "$@"; do if has "$name"; then return 0; fi; done; return 1; }
# font NAME... : is there a font file with one of these names?
font() {
	local dirs=() name
	for name in /usr/share/fonts /usr/local/share/fonts "$HOME/.fonts" "$HOME/.local/share/fonts" /Library/Fonts /System/Library/Fonts; do
		if [ -d "$name" ]; then dirs+=("$name"); fi
	done
	if [ ${#dirs[@]} -eq 0 ]; then return 1; fi
	for name in "$@"; do
		if [ -n "$(find "${dirs[@]}" -iname "*$name*" -print -quit 2>/dev/null)" ]; then return 0; fi
	done
	return 1
}

# What comes from the system: package of Debian, then what it is for.
packages=() reasons=()
want() { packages+=("$1") reasons+=("$2"); }
has mariadbd && any mariadb-install-db || want mariadb-server "MariaDB server 10.6 or newer (mariadbd, mariadb-install-db)"
any chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable || want chromium-headless-shell "Chromium or Chrome, on the PATH"
font liberation arial helvetica dejavu || want fonts-liberation "a font for Latin text, such as Liberation"
font wqy noto*cjk sourcehansans pingfang || want fonts-wqy-microhei "a font for Chinese text, such as WenQuanYi Micro Hei"
has python3 || want python3 "Python 3"
python3 -m pip --version >/dev/null 2>&1 || want python3-pip "pip for Python 3"

if [ ${#packages[@]} -gt 0 ]; then
	if [ "$(id -u)" = 0 ] && has apt-get; then
		echo "setup: installing ${packages[*]}"
		export DEBIAN_FRONTEND=noninteractive
		apt-get update -qq
		# Not every distribution has the shell of Chromium as a package.
		apt-cache show chromium-headless-shell >/dev/null 2>&1 || packages=("${packages[@]/chromium-headless-shell/chromium}")
		apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
	else
		echo "setup: the tests need what this machine does not have:" >&2
		printf '  - %s\n' "${reasons[@]}" >&2
		echo "On Debian or Ubuntu: sudo apt-get update && sudo apt-get install --no-install-recommends ${packages[*]}" >&2
		exit 1
	fi
fi

if ! has node || ! has npm || [ "$(node -p 'parseInt(process.versions.node)')" -lt 18 ]; then
	echo "setup: the browser tests need Node.js 18 or newer with npm; install it and run this again." >&2
	exit 1
fi

# What comes from npm. The lock holds checksums but no addresses: which registry
# is asked is a matter of the machine. npm ci empties the folder first, so the
# copy of the lock in it marks a complete installation.
done_mark=.tools/node_modules/.installed-lock.json
if ! cmp -s e2e/package-lock.json "$done_mark"; then
	echo "setup: fetching the npm packages of e2e/package.json"
	mkdir -p .tools
	cp e2e/package.json e2e/package-lock.json .tools/
	if ! (cd .tools && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error); then
		echo "setup: npm could not fetch the packages" >&2
		exit 1
	fi
	cp e2e/package-lock.json "$done_mark"
fi

# The driver as playwright-go wants it: DIR/package/cli.js and DIR/node.
mkdir -p .tools/playwright
ln -sfn ../node_modules/playwright-core .tools/playwright/package
ln -sfn "$(node -p process.execPath)" .tools/playwright/node

# What comes from PyPI: an SMTP server of another make. The copy of the list in the
# folder marks a complete installation, for this Python.
python_packages=.tools/python
python_mark="$(python3 -c 'import sys; print("# for Python %d.%d" % sys.version_info[:2])')
$(cat mail/testdata/requirements.txt)"
if [ "$(cat $python_packages/.installed 2>/dev/null)" != "$python_mark" ]; then
	echo "setup: fetching the Python packages of mail/testdata/requirements.txt"
	rm -rf $python_packages
	if ! python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps --target $python_packages -r mail/testdata/requirements.txt; then
		echo "setup: pip could not fetch the packages" >&2
		exit 1
	fi
	printf '%s\n' "$python_mark" >$python_packages/.installed
fi
