#!/bin/sh
# Installs a build of this plugin's engine from an unpacked folder.
# usage: install.sh FOLDER BUILD ENGINES
#   FOLDER   holds the engine's program and its libraries
#   BUILD    the name of the build that it really is
#   ENGINES  the engines folder of an installation (<data>/engines)
{
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
project() { sed -n "s/^$1 = \"\(.*\)\"\$/\1/p" "$here/plugin.toml" | head -n 1; }
id=$(project id) name=$(project name) program=$(project executable)
die() { printf '%s install: %s\n' "$id" "$*" >&2; exit 1; }
[ $# -eq 3 ] || die "usage: install.sh FOLDER BUILD ENGINES"
[ -n "$name" ] && [ -n "$program" ] || die "plugin.toml names no engine"
from=$1 build=$2 engines=$3/$name
case $build in ''|*[!A-Za-z0-9._-]*|.*) die "a build's name has letters, digits, dots and dashes";; esac
[ -x "$from/$program" ] || die "no executable $program in $from"
"$from/$program" --version >/dev/null 2>&1 </dev/null || die "$program does not run on this machine"
mkdir -p "$engines"
staged=$(mktemp -d "$engines/.new.XXXXXX")
trap 'rm -rf "$staged"' EXIT
cp -a "$from/." "$staged/"
chmod 755 "$staged"
rm -rf "${engines:?}/$build"
mv "$staged" "$engines/$build"
printf '%s\n' "$build" > "$engines/.current.new"
mv "$engines/.current.new" "$engines/current"
printf '%s %s installed\n' "$name" "$build"
exit 0
}
