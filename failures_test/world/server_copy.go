package world

// Copy copies strings, hashes, lists, sets and sorted sets.
func (e *embedded) Copy() (restore func()) {
	e.tick()
	set := []func(){e.Clear}
	add := func(do func()) { set = append(set, do) }
	for _, name := range e.mini.Keys() {
		value, _ := e.mini.Get(name) // each is empty if the key has another type
		fields, _ := e.mini.HKeys(name)
		items, _ := e.mini.List(name)
		members, _ := e.mini.Members(name)
		scores, _ := e.mini.SortedSet(name)
		switch e.mini.Type(name) {
		case "string":
			add(func() { _ = e.mini.Set(name, value) })
		case "list":
			add(func() { _, _ = e.mini.Push(name, items...) })
		case "set":
			add(func() { _, _ = e.mini.SetAdd(name, members...) })
		}
		for _, field := range fields {
			value := e.mini.HGet(name, field)
			add(func() { e.mini.HSet(name, field, value) })
		}
		for member, score := range scores {
			add(func() { _, _ = e.mini.ZAdd(name, score, member) })
		}
		if ttl := e.mini.TTL(name); ttl > 0 {
			ends := e.Now().Add(ttl)
			add(func() {
				if e.mini.SetTTL(name, ends.Sub(e.Now())); !e.Now().Before(ends) {
					e.mini.Del(name)
				}
			})
		}
	}
	return func() {
		for _, do := range set {
			do()
		}
	}
}
