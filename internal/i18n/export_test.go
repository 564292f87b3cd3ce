package i18n

import (
	"maps"
	"slices"
)

// Known returns all texts that are known, sorted.
func Known() []Text {
	delete(known, "")
	return slices.Sorted(maps.Keys(known))
}
