package i18n

import (
	"maps"
	"slices"
)

// Known returns all registered texts, sorted.
func Known() []Text {
	delete(known, "")
	return slices.Sorted(maps.Keys(known))
}
