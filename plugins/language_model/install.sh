#!/bin/sh
# Installs an engine build for the language_model plugin from an unpacked folder.
# usage: install.sh FOLDER BUILD ENGINES
#   FOLDER   holds llama-server and its libraries
#   BUILD    the name of the build that it really is
#   ENGINES  the engines folder of an installation (<data>/engines)
{
set -eu
die() { printf 'language_model install: %s\n' "$*" >&2; exit 1; }
[ $# -eq 3 ] || die "usage: install.sh FOLDER BUILD ENGINES"
from=$1 build=$2 engines=$3/llama-server
case $build in ''|*[!A-Za-z0-9._-]*|.*) die "a build's name has letters, digits, dots and dashes";; esac
[ -x "$from/llama-server" ] || die "no executable llama-server in $from"
"$from/llama-server" --version >/dev/null 2>&1 </dev/null || die "llama-server does not run on this machine"
mkdir -p "$engines"
staged=$(mktemp -d "$engines/.new.XXXXXX")
trap 'rm -rf "$staged"' EXIT
cp -a "$from/." "$staged/"
chmod 755 "$staged"
rm -rf "${engines:?}/$build"
mv "$staged" "$engines/$build"
printf '%s\n' "$build" > "$engines/.current.new"
mv "$engines/.current.new" "$engines/current"
printf 'llama-server %s installed\n' "$build"
exit 0
}
