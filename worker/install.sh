#!/bin/sh
# Installs the Spindle agent on this host:
#     curl -fsS {{ server }}/agent/install.sh | sh -s -- TOKEN [DIRECTORY FOR TEST FILES]
# As root with systemd: a user of its own, /opt/spindle, /var/lib/spindle-agent and a hardened unit. Otherwise everything goes
# below the home folder, and how to start it is said at the end. Removing: stop the unit, then delete these two folders.
set -eu

SERVER="{{ server }}"
TOKEN="${1:-}"
FILES="${2:-}"
USER_NAME=spindle-agent

say() { printf '%s\n' "$*"; }
fail() { say "$*" >&2; exit 1; }

[ -n "$TOKEN" ] || fail "The token that the server showed is missing: sh install.sh TOKEN [DIRECTORY]"
command -v python3 >/dev/null || fail "Python 3.6 or later is needed and was not found."
python3 -c 'import sys; sys.exit(sys.version_info < (3, 6))' || fail "Python 3.6 or later is needed; python3 is older."
command -v fio >/dev/null || say "fio was not found. The agent starts without it and refuses work until it is installed."
case "$FILES" in ''|/?*) ;; *) fail "The directory for test files must be an absolute path.";; esac

download() {
    python3 - "$SERVER/agent/$1" "$2.new" <<'PYTHON'
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=60) as answer, open(sys.argv[2], "wb") as target:
    target.write(answer.read())
PYTHON
    mv "$2.new" "$2"
}

system_wide=no
if [ "$(id -u)" = 0 ] && [ -d /run/systemd/system ]; then system_wide=yes; fi

if [ "$system_wide" = yes ]; then
    PROGRAM=/opt/spindle STATE=/var/lib/$USER_NAME
    id "$USER_NAME" >/dev/null 2>&1 || useradd --system --home-dir "$STATE" --shell /usr/sbin/nologin "$USER_NAME"
else
    PROGRAM="$HOME/.local/share/spindle" STATE="$HOME/.local/state/spindle-agent"
fi
mkdir -p "$PROGRAM" "$STATE"
chmod 700 "$STATE"
[ -n "$FILES" ] || FILES="$STATE/files"
mkdir -p "$FILES"
download agent.pyz "$PROGRAM/agent.pyz"
chmod 755 "$PROGRAM/agent.pyz"

if [ "$system_wide" = yes ]; then
    chown "$USER_NAME:$USER_NAME" "$STATE" "$FILES"
    runuser -u "$USER_NAME" -- python3 "$PROGRAM/agent.pyz" enrol \
        --server "$SERVER" --token "$TOKEN" --state "$STATE" --directory "$FILES"
    download agent.service /etc/systemd/system/spindle-agent.service
    mkdir -p /etc/systemd/system/spindle-agent.service.d
    printf '[Service]\nReadWritePaths="%s"\n' "$FILES" > /etc/systemd/system/spindle-agent.service.d/files.conf
    systemctl daemon-reload
    systemctl enable --now spindle-agent.service
    say "The agent runs. Its words: journalctl -u spindle-agent. Its limits: $STATE/agent.conf"
else
    python3 "$PROGRAM/agent.pyz" enrol --server "$SERVER" --token "$TOKEN" --state "$STATE" --directory "$FILES"
    say "Start it with:  python3 $PROGRAM/agent.pyz run --state $STATE"
    say "Its limits: $STATE/agent.conf"
fi
