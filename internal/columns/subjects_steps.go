package columns

import (
	"lockkata/internal/stages/subject61"
	"lockkata/internal/stages/subject62"
	"lockkata/internal/stages/subject63"
	"lockkata/internal/stages/subject64"
	"lockkata/internal/stages/subject65"
)

// steps are the columns between stage 5 and stage 6. They stand in All.
var steps = []Column{
	{
		ID: "6.1", Before: "5", Dir: "stage6_reentrant_pubsub/step1_told", Title: "the holder is told of a loss", Hidden: true,
		Lesson:    "Lock returns a hold, whose context ends with the lease. The lease counts from before the command was sent.",
		Challenge: "v1/stage6.1/2c/1x/reply-loss/leak/b.db.b.B.a.A.t",
		Subject:   subject61.Subject(),
	},
	{
		ID: "6.2", Before: "6.1", Dir: "stage6_reentrant_pubsub/step2_unknown", Title: "commands of unknown outcome", Hidden: true,
		Lesson:    "Commands are sent once, what an acquire may have got is freed, and Unlock asks again and needs no context.",
		Challenge: "v1/stage6.2/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject:   subject62.Subject(),
	},
	{
		ID: "6.3", Before: "6.2", Dir: "stage6_reentrant_pubsub/step3_reentrant", Title: "re-entry, counted in Redis", Hidden: true,
		Lesson:    "The key is a hash with the owner's count, and a Lock with a hold's context adds one. The last Unlock frees.",
		Challenge: "v1/stage6.3/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject:   subject63.Subject(),
	},
	{
		ID: "6.4", Before: "6.3", Dir: "stage6_reentrant_pubsub/step4_wakeup", Title: "waiters are woken by messages", Hidden: true,
		Lesson:    "The script that frees the lock publishes a message. Lock tries, subscribes, tries, and waits for a reason to try again.",
		Challenge: "v1/stage6.4/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject:   subject64.Subject(),
	},
	{
		ID: "6.5", Before: "6.4", Dir: "stage6_reentrant_pubsub/step5_fenced", Title: "fencing tokens", Hidden: true,
		Lesson:    "The script that takes the lock returns a token, which only rises; the resource refuses a lower one.",
		Challenge: "v1/stage6.5/2c/1x/pause/damage/a.A.a.za.t.b.B.b.B.b.B.b.b.wa.a",
		Subject:   subject65.Subject(),
	},
}
