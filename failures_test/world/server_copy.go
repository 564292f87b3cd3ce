package world

// Copy copies strings, hashes, lists, sets and sorted sets.
func (e *embedded) Copy() (restore func()) {
	e.tick()
	var set []func()
	for _, name := range e.mini.Keys() {
		switch e.mini.Type(name) {
		case "string":
			value, _ := e.mini.Get(name)
			set = append(set, func() { _ = e.mini.Set(name, value) })
		case "hash":
			fields, _ := e.mini.HKeys(name)
			for _, field := range fields {
				value := e.mini.HGet(name, field)
				set = append(set, func() { e.mini.HSet(name, field, value) })
			}
		case "list":
			items, _ := e.mini.List(name)
			set = append(set, func() { _, _ = e.mini.Push(name, items...) })
		case "set":
			members, _ := e.mini.Members(name)
			set = append(set, func() { _, _ = e.mini.SetAdd(name, members...) })
		case "zset":
			scores, _ := e.mini.SortedSet(name)
			for member, score := range scores {
				set = append(set, func() { _, _ = e.mini.ZAdd(name, score, member) })
			}
		}
		if ttl := e.mini.TTL(name); ttl > 0 {
			ends := e.Now().Add(ttl)
			set = append(set, func() {
				if left := ends.Sub(e.Now()); left > 0 {
					e.mini.SetTTL(name, left)
				} else {
					e.mini.Del(name)
				}
			})
		}
	}
	return func() {
		e.Clear()
		for _, do := range set {
			do()
		}
	}
}
