package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// taskEnv holds a worker's task.
const taskEnv = "LOCKKATA_WORKER"

// Again returns the command that starts this program again as a worker. The task must be a value
// for JSON.
func Again(task any) *exec.Cmd {
	itself, failed := os.Executable()
	text, err := json.Marshal(task)
	cmd := exec.Command(itself)
	cmd.Env = append(os.Environ(), taskEnv+"="+string(text))
	cmd.Err = errors.Join(cmd.Err, failed, err)
	return cmd
}

// Serve runs work in a process that [Again] started, with the task, a channel of orders, and a
// function that sends answers, which several goroutines may call. The process ends when work
// returns, with status 1 if it returns an error. It also ends when its input ends, because then the
// parent process has ended.
//
// In any other process Serve does nothing.
func Serve[Task, Order any](work func(task Task, orders <-chan Order, tell func(any)) error) {
	text, isWorker := os.LookupEnv(taskEnv)
	if !isWorker {
		return
	}
	_ = os.Unsetenv(taskEnv) // its child processes are not workers
	var task Task
	if err := json.Unmarshal([]byte(text), &task); err != nil {
		leave(fmt.Errorf("a worker's task %q: %w", text, err))
	}
	orders := make(chan Order, 16)
	go func() {
		for decoder := json.NewDecoder(os.Stdin); ; {
			var o Order
			if err := decoder.Decode(&o); err == io.EOF {
				leave(nil)
			} else if err != nil {
				leave(fmt.Errorf("a worker's order: %w", err))
			}
			orders <- o
		}
	}()
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	leave(work(task, orders, func(v any) {
		mu.Lock()
		defer mu.Unlock()
		if err := out.Encode(v); err != nil {
			leave(fmt.Errorf("a worker's answer: %w", err))
		}
	}))
}

// leave ends the process.
func leave(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
