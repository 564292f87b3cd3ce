package main

// What each library says of itself. Where it says nothing, the link is to the
// place where one would look: the comment of the method, or the README.

const zeroPage = "https://go-zero.dev/en/docs/tutorials/redis/redis-lock"

var redsyncPromises = map[property]promise{
	excludes:  {promised, "nobody else obtains the lock while it is held", "README.md", 55, "no one else", ""},
	ends:      {promised, "a mutex has an expiry, 8 s by default", "redsync.go", 67, "WithExpiry", ""},
	renews:    {limited, "the README says that the lock is held until it is unlocked; the reference gives it an expiry, and leaves Extend to the caller", "mutex.go", 152, "Extend resets", ""},
	tellsLoss: {limited, "Until tells how long the lock is valid; the holder has to look", "mutex.go", 49, "Until returns", ""},
	tellsEnd:  {promised, "Unlock returns its status, and an error of its own for a lock that has expired", "error.go", 16, "ErrLockAlreadyExpired", ""},
	owned:     {promised, "it is the lock of the Redis documentation, which frees only its own value", "README.md", 5, "as described", ""},
	shares:    {notPromised, "nothing is said of goroutines that share a Mutex", "mutex.go", 16, "A Mutex is", ""},
	stops:     {notPromised, "there is no renewal that could go on", "mutex.go", 152, "Extend resets", ""},
	limits:    {promised, "a mutex has an expiry, and nothing renews it", "redsync.go", 67, "WithExpiry", ""},
	wakes:     {limited, "it tries again after a pause of 50 to 250 ms, 32 times by default", "redsync.go", 75, "WithTries", ""},
	orders:    {notPromised, "nothing is said of an order", "mutex.go", 69, "LockContext locks", ""},
	lateGrant: {promised, "it is the lock of the Redis documentation, which counts its validity from before the request", "README.md", 5, "as described", ""},
	cleansUp:  {promised, "it is the lock of the Redis documentation, which unlocks after a failed attempt", "README.md", 5, "as described", ""},
	resends:   {notPromised, "nothing is said of a client that repeats commands", "mutex.go", 136, "Unlock unlocks", ""},
	frees:     {promised, "Unlock takes no context", "README.md", 63, "Release the lock", ""},
	reenters:  {notPromised, "nothing is said of a holder that locks again", "mutex.go", 69, "LockContext locks", ""},
	answers:   {promised, "ErrFailed when the lock was not acquired, ErrTaken when somebody has it", "error.go", 8, "ErrFailed", ""},
	reloads:   {notPromised, "nothing is said of scripts", "mutex.go", 136, "Unlock unlocks", ""},
	outlasts:  {limited, "the algorithm is a proposal that was not formally analyzed; understand it first", "README.md", 80, "not formally analyzed", ""},
	forces:    {notPromised, "WithValue hands a lock on; there is no way to free one whose value is unknown", "redsync.go", 134, "ownership", ""},
	fences:    {notPromised, "there is no token", "mutex.go", 44, "Value returns", ""},
}

var redislockPromises = map[property]promise{
	excludes:  {promised, "Obtain returns ErrNotObtained while somebody has the lock", "redislock.go", 62, "ErrNotObtained", ""},
	ends:      {promised, "a lock is obtained with a TTL", "redislock.go", 61, "given TTL", ""},
	renews:    {promised, "the README's watchdog keeps a long-running lock beyond its first TTL", "README.md", 83, "outlives", ""},
	tellsLoss: {limited, "the work's context is cancelled if a refresh fails: not before, and without the watchdog never", "README.md", 103, "work context", ""},
	tellsEnd:  {promised, "Release may return ErrLockNotHeld", "redislock.go", 271, "ErrLockNotHeld", ""},
	owned:     {promised, "Release deletes a key only if the value is its own", "release.lua", 2, "deletes provided", ""},
	shares:    {notPromised, "a Lock is one hold; who has none has nothing to release", "redislock.go", 271, "ErrLockNotHeld", ""},
	stops:     {notPromised, "the README leaves the watchdog to the application", "README.md", 80, "deliberately", ""},
	limits:    {notPromised, "the README leaves the watchdog to the application", "README.md", 80, "deliberately", ""},
	wakes:     {limited, "it asks again as the RetryStrategy says; by default it does not wait", "redislock.go", 291, "Default: do not retry", ""},
	orders:    {notPromised, "nothing is said of an order", "redislock.go", 61, "Obtain tries", ""},
	lateGrant: {notPromised, "nothing is said of an answer that comes late", "redislock.go", 61, "Obtain tries", ""},
	cleansUp:  {notPromised, "nothing is said of what an error leaves behind", "redislock.go", 61, "Obtain tries", ""},
	resends:   {notPromised, "nothing is said of a client that repeats commands", "redislock.go", 270, "Release manually", ""},
	frees:     {limited, "the README releases with a context of its own; Release takes any", "README.md", 101, "context.Background()", ""},
	reenters:  {notPromised, "the same token obtains again, but each Obtain makes a token of its own", "redislock.go", 298, "custom token", ""},
	answers:   {promised, "ErrNotObtained means that the lock cannot be obtained", "redislock.go", 37, "ErrNotObtained", ""},
	reloads:   {notPromised, "nothing is said of scripts", "redislock.go", 270, "Release manually", ""},
	outlasts:  {notPromised, "nothing is said of late holders or lost keys", "README.md", 134, "the lock was lost", ""},
	forces:    {notPromised, "there is no way to free a lock whose token is unknown", "redislock.go", 270, "Release manually", ""},
	fences:    {notPromised, "the token names the holder; it does not rise", "redislock.go", 297, "unique value", ""},
}

var goZeroPromises = map[property]promise{
	excludes:  {promised, "Acquire tells whether it got the lock", "", 0, "", zeroPage},
	ends:      {promised, "a lock has an expiration time", "core/stores/redis/redislock.go", 103, "SetExpire sets", ""},
	renews:    {promised, "its page says: automatic renewal. There is none: who acquires again starts the lease anew", "", 0, "", zeroPage},
	tellsLoss: {notPromised, "nothing is said of a loss", "", 0, "", zeroPage},
	tellsEnd:  {promised, "Release tells whether it released", "", 0, "", zeroPage},
	owned:     {promised, "a random version number prevents the release of a lock that has expired", "", 0, "", zeroPage},
	shares:    {notPromised, "nothing is said of goroutines that share a RedisLock", "core/stores/redis/redislock.go", 33, "A RedisLock is", ""},
	stops:     {notPromised, "there is no renewal that could go on", "core/stores/redis/redislock.go", 54, "Acquire acquires", ""},
	limits:    {promised, "a lock has an expiration time", "core/stores/redis/redislock.go", 103, "SetExpire sets", ""},
	wakes:     {limited, "the demo leaves the waiting to the caller", "", 0, "", zeroPage},
	orders:    {limited, "the demo leaves the waiting to the caller", "", 0, "", zeroPage},
	lateGrant: {notPromised, "nothing is said of an answer that comes late", "core/stores/redis/redislock.go", 59, "AcquireCtx acquires", ""},
	cleansUp:  {notPromised, "nothing is said of what an error leaves behind", "core/stores/redis/redislock.go", 59, "AcquireCtx acquires", ""},
	resends:   {notPromised, "nothing is said of its client's three retries", "core/stores/redis/redislock.go", 83, "Release releases", ""},
	frees:     {promised, "Release takes no context", "core/stores/redis/redislock.go", 83, "Release releases", ""},
	reenters:  {promised, "its page says: can reenter. The holds are not counted, so the first Release frees all of them", "", 0, "", zeroPage},
	answers:   {promised, "Acquire returns a bool and an error", "", 0, "", zeroPage},
	reloads:   {notPromised, "nothing is said of scripts", "core/stores/redis/redislock.go", 83, "Release releases", ""},
	outlasts:  {notPromised, "nothing is said of late holders or lost keys", "", 0, "", zeroPage},
	forces:    {notPromised, "there is no way to free a lock of somebody else", "core/stores/redis/redislock.go", 83, "Release releases", ""},
	fences:    {notPromised, "there is no token", "core/stores/redis/redislock.go", 33, "A RedisLock is", ""},
}

const rueidisReadme, rueidisLock = "rueidislock/README.md", "rueidislock/lock.go"

var rueidislockPromises = map[property]promise{
	excludes:  {promised, "WithContext returns once it has the lock", rueidisReadme, 64, "is returned as the lock", ""},
	ends:      {promised, "a lock has a validity, 5 s by default", rueidisReadme, 44, "KeyValidity", ""},
	renews:    {promised, "it extends the validity periodically", rueidisReadme, 66, "extend", ""},
	tellsLoss: {promised, "the context is cancelled immediately once the key is not held any more, also when Redis cannot be reached", rueidisReadme, 54, "canceled automatically", ""},
	tellsEnd:  {notPromised, "cancel returns nothing; the context is there to be asked", rueidisReadme, 54, "returned `ctx`", ""},
	owned:     {promised, "it is the lock of the Redis documentation, which frees only its own value", rueidisReadme, 3, "Redis Distributed Lock Pattern", ""},
	shares:    {notPromised, "a Locker is shared, and a hold has a cancel of its own", rueidisLock, 43, "WithContext acquires", ""},
	stops:     {notPromised, "nothing is said of renewals under way", rueidisReadme, 66, "extend", ""},
	limits:    {limited, "it extends the validity for as long as the context lives", rueidisReadme, 66, "extend", ""},
	wakes:     {promised, "a waiter tries again immediately once the lock is released", rueidisReadme, 57, "immediately", ""},
	orders:    {notPromised, "nothing is said of an order", rueidisLock, 43, "WithContext acquires", ""},
	lateGrant: {promised, "the keys have to be acquired within their validity", rueidisReadme, 64, "within the `KeyValidity`", ""},
	cleansUp:  {notPromised, "nothing is said of what an error leaves behind", rueidisLock, 45, "TryWithContext tries", ""},
	resends:   {notPromised, "nothing is said of a client that repeats commands", rueidisLock, 45, "TryWithContext tries", ""},
	frees:     {promised, "cancel releases, and takes no context", rueidisReadme, 35, "cancel()", ""},
	reenters:  {notPromised, "nothing is said of a holder that locks again", rueidisLock, 43, "WithContext acquires", ""},
	answers:   {promised, "TryWithContext may return ErrNotLocked", rueidisLock, 45, "ErrNotLocked", ""},
	reloads:   {notPromised, "nothing is said of scripts", rueidisLock, 43, "WithContext acquires", ""},
	outlasts:  {limited, "it is the lock of the Redis documentation, which names these limits", rueidisReadme, 3, "Redis Distributed Lock Pattern", ""},
	forces:    {limited, "ForceWithContext takes a lock over; nothing frees one", rueidisLock, 47, "takes over", ""},
	fences:    {notPromised, "there is no token", rueidisLock, 43, "WithContext acquires", ""},
}
