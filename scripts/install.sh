#!/bin/sh
{ # One compound command: a truncated copy is a syntax error and runs nothing.
# Installs Link for this user, without admin rights. Puts the command on PATH, and lets the user's
# systemd, if there is one, start the agent. With LINK_HOME it does either only on request.
#   curl -fsSL https://HOST/install.sh | LINK_REGISTRATION_KEY=lrk_... sh
# Downloads a release unless it is installed and intact, verifies it, and runs its `link`. `link --help` lists the exit codes.
[ -z "${ZSH_VERSION:-}" ] || emulate sh # By default, zsh reads patterns differently.
set +ef -u; umask 077
usage() {
  cat <<'END'
Usage: install.sh [OPTIONS]
  --repo-url URL     host of the releases, https:// or file://         [LINK_REPO_URL]
  --branch NAME      folder of the channel below it, default stable    [LINK_BRANCH]
  --version VERSION  version to install, default the newest            [LINK_VERSION]
  --fleet-key KEY    register with this fleet key                      [LINK_FLEET_KEY]
  --no-modify-path   leave the start files of the shells alone         [LINK_NO_MODIFY_PATH=1]
  --dry-run, --quiet say what would be done and do nothing; say nothing but errors [LINK_QUIET=1]
  --uninstall        deregister the device and delete everything; --force: offline too
  --backend          the backend, as root for the whole machine; --uninstall keeps its data, --purge not
Environment: LINK_INSTALL_URL (one folder with a release), LINK_REGISTRATION_KEY or LINK_REGISTRATION_KEY_FILE, LINK_BACKEND_URL,
LINK_HOME (install below one folder), LINK_SERVICE (auto, none, or the manager: systemd, launchd), LINK_MODIFY_PATH=1,
LINK_STALL_SECONDS (how long a download may bring less than 1 KiB/s, default 30).
END
}
say() { [ "$quiet" = 1 ] || printf '%s\n' "$*" >&2; }
die() { code=$1; shift; printf 'link-install: error: %s\n' "$*" >&2; exit "$code"; }
have() { command -v "$1" >/dev/null 2>&1; }
value() { if [ "$2" -lt 2 ] || [ -z "$3" ]; then die 2 "$1 needs a value"; fi; } # flag count value
stop() { # code text: ends like `die`, or with 14 if the disk is full
  said=$(LC_ALL=C mkdir -p "$tmp/probe" 2>&1) && (printf '%65536s' . >"$tmp/probe/file") 2>/dev/null && said=no
  case $said in '' | *"o space left"* | *uota*) die 14 "the disk is full: $data" ;; esac
  die "$@"
}
# shellcheck disable=SC2317,SC2329 # a trap calls it
clean() { # deletes everything of this run except what `link` has installed
  trap '' INT TERM HUP PIPE
  if [ -n "$shown" ]; then kill "$shown"; fi 2>/dev/null
  if [ -n "$child" ]; then kill "$child" && wait "$child"; fi 2>/dev/null
  rm -rf "$tmp"
  while [ "$data" != "$above" ] && [ "$data" != / ]; do rmdir "$data"; data=$(dirname "$data"); done 2>/dev/null
}
sha256_of() { # fails without a tool, because unverified files must not run
  if have sha256sum; then sha256sum <"$1" | cut -c1-64
  elif have shasum; then shasum -a 256 <"$1" | cut -c1-64
  elif have openssl; then openssl dgst -sha256 -r <"$1" | cut -c1-64
  elif have sha256; then sha256 -q "$1"; else return 1; fi
}
size() { if [ -f "$to" ]; then wc -c <"$to"; else echo 0; fi; }
bounded() { # runs a tool with a file size limit, against endless answers, and with messages in English
  trap '' XFSZ; ulimit -f "$limit"; case $1 in wget) LC_ALL=C; export LC_ALL ;; esac; exec "$@"
}
show() { # shows the progress of a download that takes longer than two seconds
  trap - EXIT INT TERM HUP PIPE; sleep 2
  while :; do printf '\r  %s KiB ' $(($(size) / 1024)) >&2; sleep 1; done
}
transfer() { # one attempt, which resumes an interrupted one
  if have curl; then
    set -- curl -fsSL --tlsv1.2 --connect-timeout 15 --speed-limit 1024 --speed-time "$stall" -C - -o "$to"
    case $from in http:*) set -- "$@" --proto =http --max-redirs 0 --noproxy '*' ;; *) set -- "$@" --proto =https ;; esac
  else # wget would also follow a redirect to plain http, so it may follow none.
    set -- wget -nv -c -t 1 -T "$stall" --max-redirect=0 -O "$to"
    case $from in http:*) set -- "$@" --no-proxy ;; esac
  fi
  bounded "$@" "$from" 2>"$tmp/said" &
  child=$!; idle=0; seen=$(size)
  if [ "$quiet" = 0 ] && [ -t 2 ]; then show & shown=$!; fi
  while [ "$1" = wget ] && kill -0 "$child" 2>/dev/null; do # wget has no limit for slow downloads.
    sleep 1; now=$(size); idle=$((now - seen < 1024 ? idle + 1 : 0)); seen=$now
    [ "$idle" -lt "$stall" ] || kill "$child" 2>/dev/null
  done
  wait "$child"; code=$?; child=
  if [ -n "$shown" ]; then kill "$shown" 2>/dev/null; printf '\r%20s\r' '' >&2; shown=; fi
  [ "$idle" -lt "$stall" ] || code=28 # The code of curl for a timeout.
}
fetch() { # url file [blocks]: fails after three attempts in a row that stall or bring less than 1 KiB
  from=$1; to=$tmp/$2; limit=${3:-2048}; tries=3; had=0 # A block is 512 bytes, or 1024 in some shells.
  case $from in
    file://*) # Anything but a plain file may be endless or block.
      [ -f "${from#file://}" ] || { echo "there is no such file" >"$tmp/said"; return 1; } 2>/dev/null
      (bounded cp -- "${from#file://}" "$to") 2>"$tmp/said"; return ;;
    http://*@* | https://*@*) die 12 "releases are fetched from a host that is named alone: $from" ;;
    https://* | http://127.0.0.1[:/]* | http://localhost[:/]*) ;;
    *) die 12 "releases are fetched over https:// or file:// only: $from" ;;
  esac
  while transfer; [ "$code" != 0 ]; do
    case $code:$(sed -n '$p' "$tmp/said") in
      33:* | *"rror: 416"* | *"ERROR 416"*) rm -f "$to" ;; # The server cannot resume: start again.
      23:* | 3:* | *"rror: 4"* | *"ERROR 4"*) return 1 ;; # The file cannot be written, or does not exist.
    esac
    now=$(size); tries=$((now - had < 1024 || code == 28 ? tries - 1 : 3)); had=$((now > had ? now : had))
    if [ "$tries" = 0 ]; then return 1; elif [ "$tries" -lt 3 ]; then sleep 1; fi
  done
}
why() { # the tool's message about a failed download, and advice
  case $(tr '\n' ' ' <"$tmp/said") in
    *"response 407"* | *"code 407"* | *"rror: 407"* | *"ERROR 407"* | *"HTTP/1."?" 407"* | *"Proxy Authentication"*) help="the proxy asks for a name and a password: set https_proxy=http://NAME:PASSWORD@HOST:PORT" ;;
    *"has expired"* | *"not yet valid"* | *"not yet activated"*) help="its certificate does not count at the time of this machine, $(date -u '+%Y-%m-%d %H:%M' 2>/dev/null) UTC: correct the clock; if that is right, the host needs a new certificate" ;;
    *"does not match"* | *"doesn't match"* | *"subject name"* | *"alternative name"*) help="another machine answers in the name of the host: does this network ask you to log in first? then open any page in a browser and try again" ;;
    *"self-signed"* | *"self signed"* | *issuer* | *"unknown CA"* | *"Unknown CA"*) help="this machine does not know who issued its certificate: if a proxy of your network opens TLS, ask for its certificate and set CURL_CA_BUNDLE=FILE, or ca_certificate=FILE in ~/.wgetrc for wget; else somebody listens in" ;;
    *SSL* | *TLS* | *ertificate*) help="TLS failed: is the address right, and does this network ask you to log in first?" ;;
    *"ould not resolve"* | *"unable to resolve"*) help="nobody knows this name: is the address right, and is there a network?" ;;
    *) help= ;;
  esac
  line=$(sed -n '/^curl: (/{s/^curl: //p;q;}' "$tmp/said"); line=${line:-$(sed -n '$p' "$tmp/said")}
  printf '%s' "${line:+: $line}${help:+; $help}"
}
need() { fetch "$@" || stop 12 "cannot download $1$(why)"; } # url file [blocks]
sum_of() { # name: the checksum of a file of the release, if the list is well-formed and names the file once
  awk -v f="$1" '{ n = $2; sub(/^\*/, "", n); if (n == f) { sum = $1; found++ } }
  NF != 2 || length($1) != 64 || $1 ~ /[^0-9a-f]/ { bad = 1 }
  END { if (!bad && found == 1) print sum }' "$tmp/sums"
}
system() { # target: in words
  case $1 in *-linux-*) echo "Linux on ${1%%-*}" ;; *-darwin) echo "macOS on ${1%%-*}" ;; *-windows-*) echo "Windows on ${1%%-*}" ;; *) echo "$1" ;; esac
}
offered() { # lists the targets of the release, or of $version if it is set
  for one in unknown-linux-gnu apple-darwin 'pc-windows-[a-z]*'; do
    sed -n "s/^[0-9a-f]\{64\} [ *]link-${version:-.*}-\([0-9A-Za-z_]*-$one\)\(-backend\)\{0,1\}\.tar\.gz\$/\1/p" "$tmp/sums"
  done | awk '!seen[$0]++'
}
lacks() { # whether the release has builds, but none for this machine; sets `has` to the systems of the builds
  found=$(offered); has=
  for one in $found; do [ "$one" != "$target" ] || return 1; has=${has:+$has, }$(system "$one"); done
  [ -n "$has" ]
}
is_page() { # whether the file is a web page, which networks send that require a login
  case $(head -c 200 "$tmp/$1" | tr -d ' \r\n\t' | tr '[:upper:]' '[:lower:]') in '<!doctype'* | '<html'* | '<?xml'*) ;; *) return 1 ;; esac
}
unpack() { # runs tar on the archive, limited to 512 MiB for each file and for all files together
  gzip -dc <"$tmp/asset" 2>/dev/null | head -c 536870912 | (limit=1048576; bounded tar "$@" 2>"$tmp/said")
}

quiet=${LINK_QUIET:-0}; dry=0; uninstall=0; force=; purge=; place=LINK_HOME; kind=; stall=${LINK_STALL_SECONDS:-30}; child=; shown=; chosen=
repo=${LINK_REPO_URL:-}; branch=${LINK_BRANCH:-stable}; version=${LINK_VERSION:-}; base=${LINK_INSTALL_URL:-}
while [ $# -gt 0 ]; do
  case $1 in
    --repo-url) value "$1" $# "${2:-}"; repo=$2; base=; shift ;;
    --branch) value "$1" $# "${2:-}"; branch=$2; chosen=1; shift ;;
    --version) value "$1" $# "${2:-}"; version=$2; shift ;;
    --fleet-key) value "$1" $# "${2:-}"; LINK_FLEET_KEY=$2; export LINK_FLEET_KEY; unset LINK_FLEET_KEY_FILE LINK_REGISTRATION_KEY LINK_REGISTRATION_KEY_FILE; shift ;;
    --no-modify-path) LINK_NO_MODIFY_PATH=1; export LINK_NO_MODIFY_PATH ;;
    --dry-run) dry=1 ;; --quiet) quiet=1 ;; --uninstall) uninstall=1 ;; --force) force=$1 ;; --purge) purge=$1 ;; --backend) kind=-backend ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; die 2 "unknown option: $1" ;;
  esac; shift
done
exec </dev/null # No child process may read the rest of a script that is piped in.
case ${LINK_HOME:-} in '' | /*) ;; *) LINK_HOME=$PWD/$LINK_HOME; export LINK_HOME ;; esac
case ${LINK_HOME:-}${HOME:-} in /*) ;; *) die 11 "there is no HOME: set LINK_HOME to the folder to install in" ;; esac
case ${XDG_DATA_HOME:-} in /*) data=$XDG_DATA_HOME/link$kind ;; *) data=${HOME:-}/.local/share/link$kind ;; esac
case $kind$(id -u) in -backend0) data=/usr/local/lib/link-backend ;; esac; [ -z "${LINK_HOME:-}" ] || { data=${kind#-}; data=$LINK_HOME/${data:-data}; }; installed=$data/current/link
own=${HOME:-}; [ "$uninstall" = 0 ] || own=$data # Root may remove an installation that root has made by mistake.
if [ -n "${LINK_HOME:-}" ] || [ "${data#/usr/local/}" != "$data" ] || [ ! -d "$own" ]; then own=; fi
# shellcheck disable=SC3067 # Every tested shell supports -O.
[ -z "$own" ] || [ -O "$own" ] || die 11 "$own does not belong to the user that this runs as, $(id -un): run \`sh install.sh\` without sudo to install for yourself, \`sudo -H sh install.sh\` to install for root itself, or \`sudo -iu USER\` first for somebody else; with LINK_HOME=FOLDER it goes anywhere"
if [ "$uninstall" = 1 ]; then
  [ -e "$data/receipt.json" ] || [ -e "$data/current" ] || { say "Link is not installed in $data"; exit 0; }
  [ "$dry" = 0 ] || { say "would run: $installed uninstall$kind --yes${force:+ $force}${purge:+ $purge}"; exit 0; }
  if "$installed" self-check >/dev/null 2>&1; then "$installed" "uninstall$kind" --yes ${force:+"$force"} ${purge:+"$purge"}; exit; fi
  [ -n "$base$repo" ] || die 60 "$installed does not run: add --repo-url URL, and a fresh one is downloaded to uninstall with"
fi
if [ -n "$chosen" ] && [ -n "$base" ]; then # A flag wins over a folder from the environment.
  [ -n "$repo" ] || die 2 "--branch needs --repo-url: $base is one folder without branches; give --repo-url, or leave out --branch"
  base=
fi
[ -n "$base$repo" ] || die 2 "where are the releases? give --repo-url or LINK_INSTALL_URL"
base=${base:-${repo%/}/$branch}; base=${base%/}
case $(uname -s) in Linux) os=unknown-linux-gnu ;; Darwin) os=apple-darwin ;; *) die 13 "this system is not supported: $(uname -s)" ;; esac
case $(uname -m) in amd64) cpu=x86_64 ;; arm64) cpu=aarch64 ;; *[!0-9A-Za-z_]* | '') die 13 "this processor is not supported: $(uname -m)" ;; *) cpu=$(uname -m) ;; esac
# A shell that Rosetta translates says x86_64 on a Mac with an Apple processor.
case $os in apple-darwin) [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" != 1 ] || cpu=aarch64 ;; esac; target=$cpu-$os
if [ "$dry" = 1 ]; then # Downloads and verifies a release, prints its plan, and deletes it.
  place=TMPDIR; data=$(mktemp -d) || die 11 "there is no folder for temporary files"
fi
for tool in tar gzip awk sed cut tr head; do have "$tool" || die 10 "$tool is needed"; done
case $base in file:*) ;; *) have curl || case $(wget --version 2>&1) in "GNU Wget"*) ;; *) die 10 "curl or GNU wget is needed: other programs of that name verify no certificate (Alpine: apk add curl; Debian: apt-get install curl)" ;; esac ;; esac
sha256_of /dev/null >/dev/null || die 21 "no tool for SHA-256 (sha256sum, shasum, openssl or sha256)"
above=$data; made=; while [ ! -d "$above" ]; do made=$above; above=$(dirname "$above"); done # made: the outermost new folder
[ "$dry" = 0 ] || above=${data%/*}
tmp=$data/.install.$$ # Here, because some systems forbid running programs in the temporary folder.
trap clean EXIT; trap 'exit 130' INT; trap 'exit 143' TERM HUP; trap 'exit 141' PIPE
for old in "$data"/.install.*/made; do # Another or a killed run may have created more parent folders than this run.
  old=$(sed 1q "$old" 2>/dev/null); case $old:$made in :*) ;; *: | "$old:$old"/*) made=$old; above=$(dirname "$old") ;; esac
done
mkdir -p "$tmp" 2>/dev/null || stop 11 "cannot write to $data"
[ -z "$made" ] || { printf '%s\n' "$made" >"$tmp/made"; } 2>/dev/null
for old in "$data"/.install.*; do kill -0 "${old##*.}" 2>/dev/null || rm -rf "$old"; done # left by a killed run
need "$base/SHA256SUMS" sums.cr
page="$base answers with a web page and not with a release: does this network ask you to log in first? then open any page in a browser and try again"
! is_page sums.cr || die 20 "$page"
tr -d '\r' <"$tmp/sums.cr" >"$tmp/sums" || stop 11 "cannot write to $data"
if [ -n "$version" ]; then :
elif fetch "$base/LATEST" latest; then version=$(sed -n '1p' "$tmp/latest" | tr -d ' \r')
else version=$(sed -n "s/^[0-9a-f]\{64\} [ *]link-\(.*\)-$target\.tar\.gz\$/\1/p" "$tmp/sums"); fi
case $version in *[!0-9A-Za-z.+-]*) die 20 "$base does not say one version for $target" ;; esac
! lacks || die 13 "this release has no build for $(system "$target"); it has builds for: $has"
[ -n "$version" ] || die 20 "$base does not say one version for $target"
asset=link-$version-$target$kind.tar.gz; [ -n "$(sum_of "$asset")" ] || asset=link-$version-$target.tar.gz # An older release has one archive for both products.
want=$(sum_of "$asset")
[ -n "$want" ] || die 20 "no single valid checksum for $asset in $base"
have_it() { # whether the installed command says that this archive is installed and intact
  [ "$uninstall" = 0 ] && "$installed" self-check && "$installed" verify-files ${kind:+"-$kind"} --release "$version" --archive "$want"
} >/dev/null 2>&1
set -- "install${kind:--files}" --source "$base"; [ -z "$made" ] || set -- "$@" --made "$made"
link=$installed
if have_it; then set -- "$@" --archive "$want"
else
  say "downloading Link $version for $target"
  need "$base/$asset" asset 524288
  [ "$(sha256_of "$tmp/asset")" = "$want" ] || { ! is_page asset || die 22 "$page"; die 22 "$asset does not have its checksum; nothing was installed"; }
  { unpack -tvf - >"$tmp/list" && awk '!/^-/ { bad = 1 } END { exit bad || NR > 64 }' "$tmp/list"; } ||
    stop 24 "$asset holds something else than a release, or more; nothing was installed"
  { mkdir "$tmp/files" && unpack -xf - -C "$tmp/files"; } || stop 11 "cannot unpack $asset$(sed -n '$s/^/: /p' "$tmp/said")"
  if "$installed" self-check >/dev/null 2>&1; then "$installed" verify-files ${kind:+"-$kind"} --quiet --from "$tmp/files" --release "$version" || exit; fi
  is=$(sed -n 's/.*\\"target\\":\\"\([0-9A-Za-z_-]*\)\\".*/\1/p' "$tmp/files/contents.json" 2>/dev/null)
  [ "${is:-$target}" = "$target" ] || die 24 "$asset holds programs for $(system "$is"), and this machine is $(system "$target"); nothing was installed"
  link=$tmp/files/link; set -- "$@" --from "$tmp/files"
  "$link" self-check >/dev/null 2>&1 || die 23 "the downloaded program does not run here; if nothing may be run in $data, set $place to another folder"
  case $("$link" "$1" --help 2>/dev/null) in *--archive*) set -- "$@" --archive "$want" ;; esac # An older command does not know this option.
fi
[ "$uninstall" = 0 ] || set -- "uninstall$kind" --yes ${force:+"$force"} ${purge:+"$purge"}; [ "$quiet" = 0 ] || set -- "$@" --quiet; [ "$dry" = 0 ] || set -- "$@" --dry-run
"$link" "$@"; exit
}
