package world

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"lockkata/failures_test/trace"
)

// World is one run. Call its methods in the scenario's goroutine only.
type World struct {
	*Node // the first server, by default the only one
	Lock  string
	Lease time.Duration
	// LongSilence is the time after which the lock's own goroutines have finished what they did.
	LongSilence time.Duration

	config    Config
	nodes     []*Node
	clock     Clock
	names     *names
	ledger    *Ledger
	trace     *trace.Trace
	start     time.Time
	reached   time.Duration // the time up to which delayed messages arrive
	processes []*Process
	calls     []*Call
	faults    []*Fault
	staged    []*request // written, not yet on their wires
	requests  int        // their number so far
	replies   int        // the number of replies and pushes so far
	observer  *observer  // nil: no digest is asked for
	ctx       context.Context
	cancel    context.CancelFunc
	isTest    bool        // a [Test]
	asked     chan func() // see Do
	closing   bool        // the scenario has ended: no recording, no faults
	leaveAt   int         // the number of events after which Begin stops the scenario; 0: never
	flood     error       // a client has sent commands without a pause: a FloodError

	// The clients' goroutines write the rest, under mu.
	mu       sync.Mutex
	arrived  []*request
	finished []*Call
	ended    []*Call       // acquires whose hold has ended
	wake     chan struct{} // capacity 1: something arrived or finished
	slow     time.Duration // the longest time to the first command of a call
}

// Process is one operating-system process: a client library that its goroutines share, and their lock objects.
// It freezes, crashes and loses its network as a whole.
type Process struct {
	world     *World
	name      string
	index     int
	nodes     []*Node // the servers that it may connect to
	driver    Driver  // nil until Share is called
	lockers   []Locker
	clients   []*Client
	running   map[uint64]*Call // goroutine → the call it runs; guarded by world.mu
	holds     int              // acquires without their unlocks; guarded by world.mu
	opened    []*wire          // just dialled; guarded by world.mu
	wires     []*wire
	crashed   bool
	cut       bool
	healed    chan struct{} // closed when the network is back
	stopped   atomic.Bool   // frozen or crashed; the client's goroutines read it too
	stoppedAt time.Time
	second    time.Duration // of its newest command
	sent      int           // how many it has sent in that second
}

func (p *Process) isStopped() bool { return p.stopped.Load() }

func (p *Process) isFrozen() bool { return p.isStopped() && !p.crashed }

// Client is one goroutine of a process.
type Client struct {
	Name string
	// Request is the key of the request that the client works on, if the ledger has an
	// IdempotencyGuard. All clients work on the same one, unless a scenario sets it.
	Request string
	index   int
	locker  Locker // shared with other clients of the process, or its own; see Goroutine and Sibling
	process *Process
	world   *World
}

// Call is one operation of a client, such as a Lock. It may still be under way.
type Call struct {
	ID     int
	Client *Client
	Op     string

	bound  time.Duration
	alone  bool // the only call of its process, which holds nothing, and it has sent nothing yet
	began  time.Time
	ctx    context.Context
	cancel context.CancelFunc
	result trace.Result
	write  *request     // to the ledger
	answer trace.Answer // of the ledger
	isLost bool         // the lock was lost: it ended before Unlock
	over   bool
	ended  <-chan struct{}

	panicked *trace.Source // the line at which it panicked
}

// wire is one connection between a client's go-redis and the world's Redis. The client's side is a
// net.Conn. What it writes is parsed into requests, which wait until the world executes them. It
// reads a reply once the world has delivered it. Write never blocks, because go-redis holds a lock
// while it writes.
type wire struct {
	world   *World
	process *Process
	node    *Node
	link    Conn

	mu       sync.Mutex
	partial  []byte // an incomplete command
	readable bytes.Buffer
	changed  chan struct{} // capacity 1: wakes a reader
	err      error         // returned by Read and Write from now on
	deadline time.Time
	setAt    time.Time // when the deadline was set

	closed bool // the client hung up; guarded by world.mu

	// The rest belongs to the scenario's goroutine.
	requests   []*request
	replies    []*reply
	subscribed bool
	offset     int // of the server's writes, when it executed the last command
	// transaction: MULTI was sent; writes: the transaction contains a write.
	transaction, writes bool
}

// request is a command to Redis, or a write to the ledger, that has not been executed.
type request struct {
	Command
	id      int // from 1, in the order in which they were sent
	wire    *wire
	client  *Client
	call    *Call // nil: a goroutine started by the lock sent it
	starter *Call // the call that started the sending goroutine, if that is not a call's own
	stack   *stack
	due     time.Duration       // a delayed request arrives at this time
	order   string              // sort key among requests of the same moment
	struck  bool                // by a fault
	later   []*Fault            // those that can still strike it
	waiting bool                // a WAIT, BLPOP or BRPOP that Redis has begun
	routed  bool                // a proxy sends it to the server of its first key
	inside  bool                // a transaction
	store   func() trace.Answer // a ledger write instead of a Redis command
}

// reply is a reply or a push that the client has not yet read.
type reply struct {
	request *request // nil for a push
	raw     []byte
	text    string
	due     time.Duration
	seq     int
	// published is the step of the command that published a push.
	published int
}

// Node is one Redis server of a world. Its methods inject faults.
type Node struct {
	Name   string // R1, R2 …; "" if it is the only one
	world  *World
	index  int
	server Redis
	keys   *keyspace
	down   bool
	// The rest is about its replicas; see replica.go.
	replicas []*Replica
	present  string // the name of the master
	offset   int    // the number of its writes
}

// Replica is a replica of the world's server. Each write of the master travels to it, in order. It arrives
// when nothing else can happen without time passing, and later if a scenario delays it.
type Replica struct {
	Name   string
	master *Node
	delay  time.Duration
	cut    bool
	coming []*snapshot // on their way
	has    *snapshot   // the last one that has arrived; nil if the server replicates by itself
}

// snapshot is the data of a master after one of its writes.
type snapshot struct {
	offset  int // the number of the write
	due     time.Duration
	keys    *keyspace // for the trace
	restore func()    // gives the data to the server
}

// Fault is a fault that strikes at a command of a client.
type Fault struct {
	world  *World
	client *Client // of the process whose commands it strikes; nil: of any
	moment trace.Moment
	match  Match
	times  int // how often it can still strike; < 0: no limit
	ifSent bool
	act    func(*request)
	missed string // the report if it never strikes; "": none
}

// Command is a command on the wire, as a [Match] sees it. Its fields have the names that they have in
// a [trace.Event].
type Command struct {
	Args       []string // as sent, with the values of owners
	Name       string   // in capitals
	Script     string   // the name of the script that it runs
	Write      bool     // not read-only; scripts count as writes
	Client     string
	Op         string // of the call that sent it; "" if it is in the background
	Background bool
	Effects    trace.Effects // empty until it is executed
	Server     string
}

// Match chooses commands.
type Match func(Command) bool

// wires yields all wires, process by process.
func (w *World) wires(yield func(*wire) bool) {
	for _, p := range w.processes {
		for _, c := range p.wires {
			if !yield(c) {
				return
			}
		}
	}
}

// notify does a non-blocking send on a wake-up channel of capacity 1.
func notify(waiting chan struct{}) {
	select {
	case waiting <- struct{}{}:
	default:
	}
}
