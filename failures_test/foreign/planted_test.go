//go:build languages

package foreign_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	failures "lockkata/failures_test"
	"lockkata/failures_test/foreign"
)

// language is a worker to copy, with the edits that plant a mistake into its lock.
type language struct {
	worker  string
	command string // DIR is a folder with the worker and its packages; see .ci/run
	shared  bool
	mistake map[string][]string // name → old and new texts
}

// renewing are the edits that give a lock a watchdog, which goes on or ends at an error.
func (l language) renewing(atAnError string) []string {
	all := append([]string(nil), l.mistake["watchdog"]...)
	for i, text := range all {
		all[i] = strings.ReplaceAll(text, "AT AN ERROR", atAnError)
	}
	return all
}

var languages = map[string]language{
	"python": {
		worker: "python/worker.py", command: "python3 DIR/worker.py",
		mistake: map[string][]string{
			"SETNX then PEXPIRE": {
				`return bool(client.set(name, held[caller], nx=True, px=lease_ms))`,
				`return client.setnx(name, held[caller]) and client.pexpire(name, lease_ms)`,
			},
			"DEL without comparing": {`return client.eval(FREE, 1, name, held.get(caller, "")) == 1`, `return client.delete(name) == 1`},
			"GET then DEL": {
				`return client.eval(FREE, 1, name, held.get(caller, "")) == 1`,
				`return client.get(name) == held.get(caller, "").encode() and client.delete(name) == 1`,
			},
			"watchdog": {
				`return bool(client.set(name, held[caller], nx=True, px=lease_ms))`,
				`got = client.set(name, held[caller], nx=True, px=lease_ms)
    if got:
        threading.Thread(target=renew, args=(held[caller],), daemon=True).start()
    return bool(got)


def renew(value):
    extend = FREE.replace("'DEL', KEYS[1]", "'PEXPIRE', KEYS[1], ARGV[2]")
    answer = 1
    while answer == 1:
        time.sleep(lease_ms / 3000)
        try:
            answer = client.eval(extend, 1, name, value, lease_ms)
        except redis.exceptions.RedisError:
            AT AN ERROR`,
				`socket_connect_timeout=patient)`, `socket_connect_timeout=patient, retry=Retry(NoBackoff(), 0))`,
				`import redis  #`, `import redis
from redis.retry import Retry
from redis.backoff import NoBackoff  #`,
				`"ready 1"`, `"ready 1 watchdog"`,
			},
			"goes on": {"pass"}, "ends": {"return"},
		},
	},
	"node": {
		worker: "node/worker.mjs", command: "node DIR/worker.mjs",
		mistake: map[string][]string{
			"SETNX then PEXPIRE": {
				`  const command = ["SET", name, held.get(caller), "NX", "PX", String(leaseMs)];
  return await client.sendCommand(command) === "OK";`,
				`  return await client.sendCommand(["SETNX", name, held.get(caller)]) === 1 &&
    await client.sendCommand(["PEXPIRE", name, String(leaseMs)]) === 1;`,
			},
			"DEL without comparing": {
				`await client.sendCommand(["EVAL", FREE, "1", name, held.get(caller) ?? ""]) === 1`, `await client.sendCommand(["DEL", name]) === 1`,
			},
			"GET then DEL": {
				`return await client.sendCommand(["EVAL", FREE, "1", name, held.get(caller) ?? ""]) === 1`,
				`return await client.sendCommand(["GET", name]) === held.get(caller) && await client.sendCommand(["DEL", name]) === 1`,
			},
			"watchdog": {
				`  return await client.sendCommand(command) === "OK";`,
				`  const got = await client.sendCommand(command) === "OK";
  if (got) renew(held.get(caller));
  return got;`,
				`async function unlock`, `async function renew(value) {
  const extend = FREE.replace("'DEL', KEYS[1]", "'PEXPIRE', KEYS[1], ARGV[2]");
  for (let answer = 1; answer === 1;) {
    await sleep(leaseMs / 3);
    try {
      answer = await client.sendCommand(["EVAL", extend, "1", name, value, String(leaseMs)]);
    } catch {
      AT AN ERROR
    }
  }
}

async function unlock`,
				`"ready 1"`, `"ready 1 watchdog"`,
			},
			"goes on": {"continue;"}, "ends": {"return;"},
		},
	},
	"java": {
		worker: "java/Worker.java", command: "java -cp DIR/jars/* DIR/Worker.java", shared: true,
		mistake: map[string][]string{
			"SETNX then PEXPIRE": {
				`return redis.set(name, value, SetParams.setParams().nx().px(leaseMs)) != null;`,
				`return redis.setnx(name, value) == 1 && redis.pexpire(name, leaseMs) == 1;`,
			},
			"DEL without comparing": {`return redis.eval(FREE, List.of(name), List.of(value)).equals(1L);`, `return redis.del(name) == 1;`},
			"GET then DEL": {
				`return redis.eval(FREE, List.of(name), List.of(value)).equals(1L);`, `return value.equals(redis.get(name)) && redis.del(name) == 1;`,
			},
			"watchdog": {
				`return redis.set(name, value, SetParams.setParams().nx().px(leaseMs)) != null;`,
				`boolean got = redis.set(name, value, SetParams.setParams().nx().px(leaseMs)) != null;
            if (got) {
                Thread watchdog = new Thread(() -> renew(value));
                watchdog.setDaemon(true);
                watchdog.start();
            }
            return got;`,
				`        boolean unlock(`, `        void renew(String value) {
            String extend = FREE.replace("'DEL', KEYS[1]", "'PEXPIRE', KEYS[1], ARGV[2]");
            for (Object answer = 1L; answer.equals(1L); ) {
                try {
                    Thread.sleep(leaseMs / 3);
                    answer = redis.eval(extend, List.of(name), List.of(value, "" + leaseMs));
                } catch (Exception error) {
                    AT AN ERROR
                }
            }
        }

        boolean unlock(`,
				`"ready 1 shared"`, `"ready 1 shared watchdog"`,
			},
			"goes on": {"continue;"}, "ends": {"return;"},
		},
	},
}

// planted are the mistakes, with the failure that shows each and the words of its sentence.
var planted = []struct{ name, failure, says string }{
	{"SETNX then PEXPIRE", "crash-before-expire", "leak: "},
	{"DEL without comparing", "delete-foreign", "wrong delete: "},
	{"GET then DEL", "check-then-delete", "wrong delete: "},
	{"watchdog ends", "renew-blip", "watchdog failure: "},
}

func TestPlantedMistakesAreFound(t *testing.T) {
	packages := os.Getenv("LOCKKATA_PACKAGES") // a folder for each language, with what its worker needs
	for name, l := range languages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			played := func(edits []string, ids ...string) map[string]failures.Cell {
				dir := t.TempDir()
				require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(packages, name))))
				raw, err := os.ReadFile(filepath.Join("workers", l.worker))
				require.NoError(t, err)
				source := string(raw)
				for i := 0; i < len(edits); i += 2 {
					require.Contains(t, source, edits[i])
					source = strings.Replace(source, edits[i], edits[i+1], 1)
				}
				require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(l.worker)), []byte(source), 0o600))
				command := strings.Fields(strings.ReplaceAll(l.command, "DIR", dir))
				return play(t, foreign.Worker{Command: command, Shared: l.shared}, ids...)
			}
			var all []string
			for _, p := range planted {
				edits := l.mistake[p.name]
				if p.name == "watchdog ends" {
					edits = l.renewing(l.mistake["ends"][0])
				}
				cell := played(edits, p.failure)[p.failure]
				require.Equal(t, failures.Broken, cell.Outcome, "%s: %s", p.name, cell.Sentence())
				require.Contains(t, cell.Sentence(), p.says, p.name)
				all = append(all, p.failure)
			}
			for _, right := range [][]string{nil, l.renewing(l.mistake["goes on"][0])} {
				for id, cell := range played(right, all...) {
					require.NotEqual(t, failures.Broken, cell.Outcome, "%s: %s", id, cell.Sentence())
				}
			}
		})
	}
}
