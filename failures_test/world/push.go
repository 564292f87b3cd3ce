package world

import "slices"

// BreakSubscriptions breaks the connections on which the process listens for
// messages. What was pushed and not yet read is lost. Time and everybody else
// stand still meanwhile: a Cut before it and a Heal after it make sure that the
// message was on its way. They break one after the other, each when the process has dealt
// with the one before: go-redis subscribes again on all at once, in any order.
func (c *Client) BreakSubscriptions() {
	for _, wire := range slices.Clone(c.process.wires) {
		if wire.subscribed {
			c.world.losePushes(wire)
			c.world.settle()
		}
	}
}

// LoseSubscriptions has Redis forget that the process listens, while the connections stay
// open: nothing arrives on them any more, and no error either. A firewall does that to a
// connection on which nothing is sent for long.
func (c *Client) LoseSubscriptions() {
	for _, wire := range c.process.wires {
		if wire.subscribed {
			wire.unsubscribe()
			wire.node.disturb(SubscriptionLost, func() error { return nil })
		}
	}
}

// losePushes breaks a connection with all that waits to be read on it.
func (w *World) losePushes(on *wire) {
	w.recordProcess(Dropped, on.process, Event{Background: true})
	w.breakWire(on)
}
