package world

import "fmt"

// scenarioError is the panic value that ends a scenario with an error.
type scenarioError struct{ error }

// takenOver is the panic value that unwinds a scenario when the caller takes control.
type takenOver struct{}

// fail ends the scenario with an error.
func fail(format string, args ...any) {
	panic(scenarioError{fmt.Errorf("world: "+format, args...)})
}

// mostInASecond limits the commands of a client in a second of fake time. A lock that polls every
// millisecond stays below it. A lock that never waits would loop forever.
const mostInASecond = 2_000

// FloodError is the error of a scenario whose lock sends commands without a pause.
type FloodError struct{ Client, Function, Line string }

func (e FloodError) Error() string {
	return fmt.Sprintf("%s floods Redis at %s: more than %d commands in a second", e.Client, e.Line, mostInASecond)
}
