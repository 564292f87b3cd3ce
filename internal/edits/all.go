package edits

import "slices"

// All are the edits, by the file that they change.
var All = slices.Concat(owners, renewed, steps, whole)
