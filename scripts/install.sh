#!/bin/sh
# Installs Link for this user; it needs no admin rights. The command is put on PATH, and the user's
# systemd, where there is one, starts the agent: neither with LINK_HOME, unless it is asked for.
#
#   curl -fsSL https://…/install.sh | sh
#   LINK_REGISTRATION_KEY=lrk_… sh install.sh
#
# Downloads a release, verifies it, and hands over to its `link`. `link --help` has the exit codes.
{ # One compound command: a copy that was cut off is a syntax error, never half a run.
set -u
umask 077

usage() {
  cat >&2 <<'END'
Usage: install.sh [OPTIONS]
  --repo-url URL     host of the releases, https:// or file://         [LINK_REPO_URL]
  --branch NAME      folder of the channel below it, default stable    [LINK_BRANCH]
  --version VERSION  version to install, default the newest            [LINK_VERSION]
  --fleet-key KEY    register with this fleet key                      [LINK_FLEET_KEY]
  --no-modify-path   leave the start files of the shells alone         [LINK_NO_MODIFY_PATH=1]
  --dry-run          say what would be done and do nothing
  --quiet            say nothing but errors                            [LINK_QUIET=1]
  --uninstall        deregister the device and delete everything
Environment: LINK_INSTALL_URL (one folder with a release), LINK_REGISTRATION_KEY, LINK_BACKEND_URL,
LINK_HOME (install below one folder), LINK_SERVICE (auto, systemd, none), LINK_MODIFY_PATH=1.
END
}
say() { [ "$quiet" = 1 ] || printf '%s\n' "$*" >&2; }
die() { code=$1; shift; printf 'link-install: error: %s\n' "$*" >&2; exit "$code"; }
have() { command -v "$1" >/dev/null 2>&1; }
value() { # flag count value: the value of a flag, which must be there
  if [ "$2" -lt 2 ] || [ -z "$3" ]; then die 2 "$1 needs a value"; fi
}

target_of() { # the name of this system among the releases
  case $(uname -s) in
    Linux) os=unknown-linux-gnu ;;
    Darwin) os=apple-darwin ;;
    *) die 13 "this system is not supported: $(uname -s)" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) printf 'x86_64-%s\n' "$os" ;;
    aarch64 | arm64) printf 'aarch64-%s\n' "$os" ;;
    *) die 13 "this processor is not supported: $(uname -m)" ;;
  esac
}

sha256_of() { # fails without a tool: what cannot be verified is not run
  if have sha256sum; then sha256sum <"$1" | cut -c1-64
  elif have shasum; then shasum -a 256 <"$1" | cut -c1-64
  elif have openssl; then openssl dgst -sha256 -r <"$1" | cut -c1-64
  elif have sha256; then sha256 -q "$1"
  else return 1; fi
}

fetch() { # url destination
  case $1 in
    file://*) cp -- "${1#file://}" "$2" 2>/dev/null ;;
    https://*) download "$1" "$2" "=https" ;;
    http://127.0.0.1[:/]* | http://localhost[:/]*) download "$1" "$2" "=http" ;;
    *) die 12 "releases are fetched over https:// or file:// only: $1" ;;
  esac
}
download() {
  if have curl; then
    curl -fsSL --proto "$3" --tlsv1.2 --retry 3 --connect-timeout 15 -o "$2" "$1" </dev/null
  elif have wget; then
    wget -q -T 15 -t 3 -O "$2" "$1" </dev/null
  else die 10 "curl or wget is needed"; fi
}

newest() { # version: the file LATEST, or the only version in the checksum file
  if fetch "$base/LATEST" "$tmp/LATEST" 2>/dev/null; then
    head -n 1 "$tmp/LATEST" | tr -d ' \r'
  else
    sed -n "s/^[0-9a-f]\{64\} [ *]link-\(.*\)-$target\.tar\.gz\$/\1/p" "$tmp/SHA256SUMS"
  fi
}

main() {
  quiet=${LINK_QUIET:-0}; dry=0; uninstall=0
  repo=${LINK_REPO_URL:-}; branch=${LINK_BRANCH:-stable}; version=${LINK_VERSION:-}
  base=${LINK_INSTALL_URL:-}
  while [ $# -gt 0 ]; do
    case $1 in
      --repo-url) value "$1" $# "${2:-}"; repo=$2; base=; shift ;;
      --branch) value "$1" $# "${2:-}"; branch=$2; shift ;;
      --version) value "$1" $# "${2:-}"; version=$2; shift ;;
      --fleet-key) value "$1" $# "${2:-}"; LINK_FLEET_KEY=$2; export LINK_FLEET_KEY; unset LINK_REGISTRATION_KEY; shift ;;
      --no-modify-path) LINK_NO_MODIFY_PATH=1; export LINK_NO_MODIFY_PATH ;;
      --dry-run) dry=1 ;;
      --quiet) quiet=1 ;;
      --uninstall) uninstall=1 ;;
      --help | -h) usage; exit 0 ;;
      *) usage; die 2 "unknown option: $1" ;;
    esac
    shift
  done
  [ -n "${LINK_HOME:-}${HOME:-}" ] || die 11 "neither HOME nor LINK_HOME is set"
  if [ -n "${LINK_HOME:-}" ]; then data=$LINK_HOME/data; else data=${XDG_DATA_HOME:-$HOME/.local/share}/link; fi

  if [ "$uninstall" = 1 ]; then
    [ -x "$data/current/link" ] || die 1 "Link is not installed in $data"
    [ "$dry" = 0 ] || { say "would run: $data/current/link uninstall --yes"; exit 0; }
    "$data/current/link" uninstall --yes </dev/null
    exit
  fi

  [ -n "$base" ] || [ -n "$repo" ] || die 2 "where are the releases? give --repo-url or LINK_INSTALL_URL"
  [ -n "$base" ] || base=${repo%/}/$branch
  base=${base%/}
  target=$(target_of) || exit
  if [ "$dry" = 1 ]; then
    say "would download Link ${version:-(the newest)} for $target from $base"
    path="put it on PATH"; [ -z "${LINK_HOME:-}${LINK_NO_MODIFY_PATH:-}" ] || path="leave PATH alone"
    say "would verify it, install it in $data, start its agent and $path"
    exit 0
  fi
  for tool in tar awk sed cut mktemp; do have "$tool" || die 10 "$tool is needed"; done

  made=; above=$data # the outermost folder that this run makes
  while [ ! -d "$above" ]; do made=$above; above=$(dirname "$above"); done
  mkdir -p "$data" || die 11 "cannot create $data"
  tmp=$(mktemp -d "$data/.install.XXXXXX") || die 11 "cannot write to $data"
  trap 'rm -rf "$tmp"; rmdir "$data" 2>/dev/null' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  fetch "$base/SHA256SUMS" "$tmp/SHA256SUMS" || die 12 "cannot download $base/SHA256SUMS"
  [ -n "$version" ] || version=$(newest)
  case $version in *[!0-9A-Za-z.+-]* | '') die 20 "$base does not say one version for $target" ;; esac
  asset=link-$version-$target.tar.gz
  want=$(awk -v f="$asset" '{ n = $2; sub(/^\*/, "", n) } n == f { print $1 }' "$tmp/SHA256SUMS")
  case $want in *[!0-9a-f]* | '') die 20 "no single valid checksum for $asset in $base" ;; esac
  [ ${#want} -eq 64 ] || die 20 "no single valid checksum for $asset in $base"
  say "downloading Link $version for $target"
  fetch "$base/$asset" "$tmp/asset" || die 12 "cannot download $base/$asset"
  got=$(sha256_of "$tmp/asset") || die 21 "no tool for SHA-256 (sha256sum, shasum, openssl or sha256)"
  [ "$got" = "$want" ] || die 22 "$asset does not have its checksum; nothing was installed"
  mkdir "$tmp/files" || die 11 "cannot write to $data"
  tar -xzf "$tmp/asset" -C "$tmp/files" </dev/null || die 11 "cannot unpack $asset"
  "$tmp/files/link" self-check >/dev/null 2>&1 </dev/null || die 23 "the downloaded program does not run here"
  set -- install-files --from "$tmp/files"
  [ -z "$made" ] || set -- "$@" --made "$made"
  [ "$quiet" = 0 ] || set -- "$@" --quiet
  "$tmp/files/link" "$@" </dev/null
}
main "$@"; exit
}
