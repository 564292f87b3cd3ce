package failures

// Failures of waiting: a wake-up is lost, or goes to somebody who has left.
var waitingFailures = []Failure{}
