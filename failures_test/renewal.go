package failures

// Failures of the watchdog: it renews too little, too long, or for somebody else.
var renewalFailures = []Failure{}
