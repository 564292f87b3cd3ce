package world

import (
	"maps"
	"slices"
	"strings"
)

// place is a part of a key: an entry, or a field of a hash.
type place struct{ key, part string }

// layout is where a hash has its owners. It is decided when the key is created.
type layout struct {
	byField bool     // each owner has a field, whose value may be the number of its holds: {owner: count}
	random  bool     // else: the value of the one field is random, and is the owner
	fields  []string // else: these fields identify the owner together
}

// layoutOf returns the layout of a new hash. A random field or value is an owner, since each hold has
// another one; names of fields that a person chose are the same in each hold. If nothing is random,
// fields that all count to 1 are owners.
func (n *names) layoutOf(fields map[string]string) layout {
	all := slices.Sorted(maps.Keys(fields))
	if slices.ContainsFunc(all, n.looksRandom) || !slices.ContainsFunc(all, func(field string) bool { return fields[field] != "1" }) {
		return layout{byField: true}
	}
	if i := slices.IndexFunc(all, func(field string) bool { return n.looksRandom(fields[field]) }); i >= 0 {
		return layout{random: true, fields: all[i : i+1]}
	}
	return layout{fields: all}
}

// entries returns the texts that identify owners in a key, sorted: fields or a value of a hash, or the
// value of any other key.
func (s *keyspace) entries(name string, k KeyState) []string {
	switch {
	case k.Kind == "": // there is no key
		return nil
	case k.Kind != "hash":
		return []string{k.Value}
	}
	at, known := s.layouts[name]
	if !known {
		at = s.names.layoutOf(k.Fields)
		s.layouts[name] = at
	}
	if at.random {
		if owner := k.Fields[at.fields[0]]; owner != "" {
			return []string{owner}
		}
		return nil
	}
	if !at.byField {
		var pairs []string
		for _, field := range at.fields {
			pairs = append(pairs, field+"="+k.Fields[field])
		}
		return []string{strings.Join(pairs, " ")}
	}
	fields := slices.Sorted(maps.Keys(k.Fields))
	if slices.ContainsFunc(fields, s.names.looksRandom) {
		return slices.DeleteFunc(fields, func(field string) bool { return !s.names.looksRandom(field) })
	}
	return fields
}

// entryOf returns the entry that a field of a hash shows, "" if it shows none. Fields that identify an
// owner together show it with the first of them.
func (s *keyspace) entryOf(name string, k KeyState, field string) string {
	entries, at := s.entries(name, k), s.layouts[name]
	switch {
	case at.byField && slices.Contains(entries, field):
		return field
	case !at.byField && field == at.fields[0] && len(entries) > 0:
		return entries[0]
	}
	return ""
}

// isSameHold reports whether a command that has changed the only entry of a key has left its hold: it
// counted, or the owner's process has changed a hash without random values.
func (s *keyspace) isSameHold(name, entry string, now KeyState, by installer) bool {
	at := s.layouts[name]
	return now.Counted || !at.random && at.fields != nil && by.process == s.owners[place{name, entry}].Process
}

// noteCounts notes the fields that count holds. They begin at 1. If the owner is not a field but a
// value, another call of the lock has changed the count.
func (s *keyspace) noteCounts(name string, was, now KeyState, by installer) {
	for field, value := range now.Fields {
		at := place{name, field}
		_, began := s.counts[at]
		switch old, existed := was.Fields[field]; {
		case !existed && value == "1":
			s.counts[at] = s.layouts[name].byField
		case existed && old != value && began && by.call != 0:
			s.counts[at] = true
		}
	}
}
