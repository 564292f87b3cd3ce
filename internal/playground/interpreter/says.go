package interpreter

import "lockkata/internal/texts"

// elsewhere is how to go on with a lock that the interpreter cannot run.
const elsewhere = "compile it instead, with go run . kata or go run . grade"

// Why a lock is not run. What Go's type checker says stays as it says it.
var (
	beyond    = texts.New("{what} is more than can be run here: " + elsewhere)
	noPackage = texts.New("the package {name} is not to be had here: " + elsewhere)
	notKnown  = texts.New("{name} is not known here: if Go has it, " + elsewhere)
	ifGoHasIt = texts.New("{said}: if Go has it, " + elsewhere)
	noGoFile  = texts.New("there is no Go file")
	noMutex   = texts.New("there is no " + newMutex)
	notMutex  = texts.New("it is not " + newMutex + ", with options after the lease or none")
	noLocker  = texts.New("what NewMutex returns has to have Lock(ctx) error, TryLock(ctx) (bool, error) and Unlock(ctx) error," +
		" or a Lock and a TryLock that return a hold, which has Unlock")
)

// What is more than can be run.
var (
	ownType        = texts.New("a type of your own as a {type}")
	ownStruct      = texts.New("a struct of your own for go-redis, without a method {method},")
	notEmbedding   = texts.New("a {type} of your own that does not embed one")
	inPlace        = texts.New("{method} in place of the method of what it embeds")
	theFunction    = texts.New("the function {name}")
	theMethod      = texts.New("the method {name}")
	theOperator    = texts.New("the operator {name}")
	thisCall       = texts.New("this call")
	theseArguments = texts.New("these arguments")
	thisExpression = texts.New("this expression")
	twoValues      = texts.New("this expression with two values")
	thisLiteral    = texts.New("this literal")
	thisStatement  = texts.New("this statement")
	thisReturn     = texts.New("this return")
	constantOfType = texts.New("a constant of the type {type}")
	indexOf        = texts.New("an index of a {type}")
	rangeOver      = texts.New("a range over a {type}")
	complexNumbers = texts.New("complex numbers")
	withoutBody    = texts.New("a function without a body")
	missingFile    = texts.New("the file {name}, which is not among those of the lock,")
	embedFor       = texts.New("go:embed for a {type}")
	theseMethods   = texts.New("a lock with these of Token, Lost, HoldCount, ForceUnlock and Close")
	localGeneric   = texts.New("a type that is declared inside a generic function")
	sharedGroup    = texts.New("a sync.WaitGroup that more than one run uses")
	ofItself       = texts.New("the type {type}, which consists of itself,")
)

// Why a lock was stopped.
var (
	withoutEnd   = texts.New("the lock goes on without end: this line is where it was stopped")
	endlessLoop  = texts.New("an endless loop: no time passes, and it never waits")
	tooDeep      = texts.New("more than {n} calls within calls: does a function call itself?")
	tooMany      = texts.New("more than {n} goroutines at once: this line starts another")
	tooLong      = texts.New("{n} elements: more than a lock needs")
	longString   = texts.New("a string of more than {n} bytes")
	tooMuch      = texts.New("more than half a gigabyte of memory: does something only grow?")
	notHeld      = texts.New("{method} of a mutex that nobody holds: it ends the process of a compiled lock")
	waitsForLock = texts.New("waits here for a mutex that stays held: by this goroutine itself, or by one that waits " +
		"for Redis or a channel. Nobody can cancel that wait")
	asksForType = texts.New("here the lock asks whether a {type} has the method {name}, and nobody knows that here: " + elsewhere)
	methodOf    = texts.New("the method {name} of a {type} is not known here: " + elsewhere)
	otherRun    = texts.New("a channel or a timer of another run, kept in a variable of the package: keep it in the lock that NewMutex makes, since each run has a clock of its own")
	panicked    = texts.New("panic: {what}")
)
