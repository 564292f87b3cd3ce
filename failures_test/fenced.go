package failures

// The failures that no lease can prevent, once more with a ledger that refuses
// old fencing tokens.
var fencedFailures = []Failure{}
