#!/bin/sh
# Installs the Spindle agent on this host, or brings it up to date where it is installed:
#     curl -fsSL {{ server }}/agent/install.sh | SPINDLE_ENROL_TOKEN=TOKEN sh
#     curl -fsSL {{ server }}/agent/install.sh | SPINDLE_ENROL_TOKEN=TOKEN sh -s -- [--again] [--probe] [DIRECTORY FOR TEST FILES ...]
# A directory on each filesystem that is to be measured. Where the host is enrolled already, further ones are allowed beside those it has:
#     curl -fsSL {{ server }}/agent/install.sh | sh -s -- /mnt/md1/spindle
# The token is never on a command line, where every account of the host could read it (ps).
# --probe: also a unit that runs as root, without network, and reads what only root can read (SMART, dmidecode, RAID cards).
# As root with systemd: a user of its own, /opt/spindle, /var/lib/spindle-agent and a hardened unit. Otherwise everything goes
# below the home folder, and how to start it is said at the end. What is there already keeps its owner and its mode.
# Removing: stop the unit, then delete these two folders.
set -eu
umask 022

SERVER="{{ server }}"
USER_NAME=spindle-agent
UNITS=/etc/systemd/system

say() { printf '%s\n' "$*"; }
fail() { say "$*" >&2; exit 1; }
owner() { stat -c %U "$1"; }

download() {
    python3 - "$SERVER/agent/$1" "$2.new" <<'PYTHON'
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=60) as answer, open(sys.argv[2], "wb") as target:
    target.write(answer.read())
PYTHON
    mv "$2.new" "$2"
}

# A folder that only the agent may enter. Only one that is made here gets an owner.
make_folder() {
    [ ! -d "$1" ] || return 0
    mkdir -p "$(dirname "$1")"
    mkdir -m 700 "$1"
    [ "$system_wide" = no ] || chown -h "$USER_NAME:$USER_NAME" "$1"
}

as_agent() {
    if [ "$system_wide" = yes ]; then runuser -u "$USER_NAME" -- "$@"; else "$@"; fi
}

check() {
    command -v python3 >/dev/null || fail "Python 3.6 or later is needed and was not found."
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 6))' || fail "Python 3.6 or later is needed; python3 is older."
    command -v fio >/dev/null || say "fio was not found. The agent starts without it, looks for it at each poll and refuses runs until it is installed."
}

check_path() {
    case "$1" in
        *[!A-Za-z0-9._/+@:-]*) fail "The directory for test files may hold letters, digits and . _ + @ : - / only: $1";;
        /*/../*|/*/..) fail "The directory for test files must not hold .. : $1";;
        /?*) ;;
        *) fail "The directory for test files must be an absolute path: $1";;
    esac
    [ "$system_wide" = no ] || case "$1/" in
        /home/*|/root/*|/tmp/*|/var/tmp/*) fail "The agent's unit sees neither home folders nor /tmp; choose another directory for test files than $1";;
    esac
}

# The directories for test files. In one that belongs to somebody else the agent gets a folder of its own.
prepare_files() {
    prepared=''
    for path in $FILES; do
        make_folder "$path"
        if ! as_agent test -w "$path"; then
            path="$path/$USER_NAME"
            make_folder "$path"
            say "Test files go to $path, because the directory above it is not the agent's."
        fi
        prepared="$prepared --directory $path"
    done
}


enrol() {
    [ -n "$TOKEN" ] || fail "The token that the server showed is missing: SPINDLE_ENROL_TOKEN=TOKEN sh install.sh [DIRECTORY]"
    allowed_before=no
    [ ! -e "$STATE/agent.conf" ] || allowed_before=yes
    [ -n "$FILES" ] || [ "$allowed_before" = yes ] || FILES="$STATE/files"
    prepare_files
    printf '%s\n' "$TOKEN" | as_agent python3 "$PROGRAM/agent.pyz" enrol $AGAIN \
        --server "$SERVER" --token-file - --state "$STATE" $prepared
    [ "$allowed_before" = no ] || [ -z "$FILES" ] || as_agent python3 "$PROGRAM/agent.pyz" allow --state "$STATE" $prepared
}

install_unit() {
    download agent.service "$UNITS/spindle-agent.service"
    writable="$UNITS/spindle-agent.service.d/files.conf"
    if [ -n "$prepared" ]; then
        mkdir -p "$UNITS/spindle-agent.service.d"
        [ -e "$writable" ] || printf '[Service]\n' > "$writable"
        for path in $prepared; do  # the dash: the others can be used while one is not mounted
            [ "$path" = --directory ] || grep -qxF "ReadWritePaths=\"-$path\"" "$writable" || printf 'ReadWritePaths="-%s"\n' "$path" >> "$writable"
        done
    fi
    systemctl daemon-reload
    systemctl enable spindle-agent.service
    systemctl restart spindle-agent.service
}

# The units that run as root; asked for with --probe, never installed otherwise.
install_probe() {
    [ "$system_wide" = yes ] || fail "--probe needs root and systemd. Nothing of it was installed."
    make_folder "$STATE/requests"
    for unit in probe.service probe.timer drop-caches.service drop-caches.path; do
        download "$unit" "$UNITS/spindle-$unit"
    done
    systemctl daemon-reload
    systemctl enable --now spindle-probe.timer spindle-drop-caches.path
    systemctl start spindle-probe.service || say "The probe could not run: journalctl -u spindle-probe"
    say "The probe reads this host's inventory as root once a day. What else it may do: /var/lib/spindle-probe/probe.conf"
}

main() {
    PROBE=no
    TOKEN="${SPINDLE_ENROL_TOKEN:-}" AGAIN='' FILES='' prepared=''
    unset SPINDLE_ENROL_TOKEN
    system_wide=no
    if [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ]; then system_wide=yes; fi
    for word in "$@"; do
        case "$word" in
            --again) AGAIN=--again;;
            --probe) PROBE=yes;;
            spe_*) TOKEN="$word"; say "The token was on the command line, where others may have read it; better put it into SPINDLE_ENROL_TOKEN.";;
            *) check_path "$word"; FILES="$FILES $word";;
        esac
    done
    check

    if [ "$system_wide" = yes ]; then
        PROGRAM=/opt/spindle STATE=/var/lib/$USER_NAME
        id "$USER_NAME" >/dev/null 2>&1 || useradd --system --home-dir "$STATE" --shell /usr/sbin/nologin "$USER_NAME"
        [ ! -d "$STATE" ] || [ "$(owner "$STATE")" = "$USER_NAME" ] || fail "$STATE is there and belongs to $(owner "$STATE"), not to $USER_NAME. Nothing was installed."
    else
        PROGRAM="$HOME/.local/share/spindle" STATE="$HOME/.local/state/spindle-agent"
    fi
    mkdir -p "$PROGRAM"
    [ "$(stat -c %u "$PROGRAM")" = "$(id -u)" ] || fail "$PROGRAM is there and belongs to $(owner "$PROGRAM"). Nothing was installed."
    make_folder "$STATE"
    download agent.pyz "$PROGRAM/agent.pyz"
    chmod 755 "$PROGRAM/agent.pyz"

    enrolled=no
    if [ -e "$STATE/identity.json" ] && [ -z "$AGAIN" ]; then
        enrolled=yes
        say "This host is enrolled already: the program was brought up to date, all else is as it was. To enrol it anew: sh -s -- --again"
        if [ -n "$FILES" ]; then
            prepare_files
            as_agent python3 "$PROGRAM/agent.pyz" allow --state "$STATE" $prepared
        fi
    else
        enrol
    fi

    if [ "$system_wide" = yes ]; then
        [ "$PROBE" = no ] || install_probe
        install_unit
        say "The agent runs. Its words: journalctl -u spindle-agent. Its limits: $STATE/agent.conf"
    else
        [ "$PROBE" = no ] || install_probe
        say "Start it with:  python3 $PROGRAM/agent.pyz run --state $STATE"
        say "Its limits: $STATE/agent.conf"
    fi
}

main "$@"
