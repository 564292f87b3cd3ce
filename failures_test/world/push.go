package world

import (
	"slices"

	"lockkata/failures_test/trace"
)

// BreakSubscriptions breaks the process's connections that have subscriptions. Messages that it has
// not read are lost. No time passes: use Cut before and Heal after it so that a message is lost on
// its way. Each connection breaks when the process has handled the one before, because go-redis
// subscribes again in any order.
func (c *Client) BreakSubscriptions() {
	for _, wire := range slices.Clone(c.process.wires) {
		if wire.subscribed {
			c.world.losePushes(wire)
			c.world.settle()
		}
	}
}

// LoseSubscriptions makes Redis forget the process's subscriptions while the connections stay open,
// so no messages and no errors arrive. A firewall does that to idle connections.
func (c *Client) LoseSubscriptions() {
	for _, wire := range c.process.wires {
		if wire.subscribed {
			wire.unsubscribe()
			wire.node.disturb(trace.SubscriptionLost, 0)
		}
	}
}

// losePushes breaks a connection and drops its unread messages.
func (w *World) losePushes(on *wire) {
	w.recordProcess(trace.Dropped, on.process, trace.Event{Background: true})
	w.breakWire(on)
}
