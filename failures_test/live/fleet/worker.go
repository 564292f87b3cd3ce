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

// Again is the command that starts this program again as a worker, with a task: a
// value that JSON can carry.
func Again(task any) *exec.Cmd {
	itself, failed := os.Executable()
	text, err := json.Marshal(task)
	cmd := exec.Command(itself)
	cmd.Env = append(os.Environ(), taskEnv+"="+string(text))
	cmd.Err = errors.Join(cmd.Err, failed, err)
	return cmd
}

// Serve is the life of a worker. In a process that [Again] started it calls work,
// with the task, the orders as they come, and a function that answers; it may be
// called by several goroutines. The process ends with work, with status 1 if that
// returns an error. It ends at once when its input ends, because then the process that
// started it has ended.
//
// In any other process Serve returns at once.
func Serve[Task, Order any](work func(task Task, orders <-chan Order, tell func(any)) error) {
	text, isWorker := os.LookupEnv(taskEnv)
	if !isWorker {
		return
	}
	_ = os.Unsetenv(taskEnv) // what this process starts is no worker
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
