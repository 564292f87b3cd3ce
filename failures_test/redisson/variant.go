package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	stage6 "lockkata/stage6_reentrant_pubsub"
)

// variant is a way in which the Go side shares the lock: as it should, or with a
// mistake that some checks have to convict.
type variant struct {
	Name    string
	Layout  stage6.Layout
	Options []stage6.Option
	Edits   map[string]edit // by script
	// Convicts are the results that have to be red.
	Convicts []string
}

// edit replaces text of a script.
type edit struct{ old, new string }

// faithful is stage 6 as it is.
var faithful = variant{Name: "redisson", Layout: stage6.RedissonLayout}

// mutants are the mistakes.
var mutants = []variant{
	{
		Name: "default-layout", Layout: stage6.DefaultLayout,
		Convicts: []string{"exclusion Go", "exclusion Redisson", "counts Go"},
	},
	{
		Name: "channel-misspelt", Layout: stage6.Layout{
			Key: stage6.RedissonLayout.Key, Token: stage6.RedissonLayout.Token,
			Channel: func(name string) string { return "redisson_lock_channel:{" + name + "}" },
		},
		Convicts: []string{"wake-up Go", "wake-up Redisson", "partial Go", "force Redisson"},
	},
	{
		Name: "channel-without-braces", Layout: stage6.Layout{
			Key: stage6.RedissonLayout.Key, Token: stage6.RedissonLayout.Token,
			Channel: func(name string) string { return "redisson_lock__channel:" + name },
		},
		Convicts: []string{"names Go", "names Redisson"},
	},
	{
		Name: "channel-always-in-braces", Layout: stage6.Layout{
			Key: stage6.RedissonLayout.Key, Token: stage6.RedissonLayout.Token,
			Channel: func(name string) string { return "redisson_lock__channel:{" + name + "}" },
		},
		Convicts: []string{"names Go", "names Redisson"},
	},
	{
		Name: "message-unknown", Layout: stage6.RedissonLayout, Edits: map[string]edit{"release": {`"0"`, `"2"`}},
		Convicts: []string{"wake-up Go", "partial Go"},
	},
	{
		Name: "forces-unheard", Layout: stage6.RedissonLayout, Edits: map[string]edit{"force": {`"0"`, `"2"`}},
		Convicts: []string{"force Redisson"},
	},
	{
		Name: "count-not-in-hash", Layout: stage6.RedissonLayout, Edits: map[string]edit{"count": {`"HSET"`, `"HSETNX"`}},
		Convicts: []string{"counts Go"},
	},
	{
		Name: "partial-unlock-wakes", Layout: stage6.RedissonLayout,
		Edits:    map[string]edit{"count": {"\nreturn 1", "\n" + `redis.call("PUBLISH", "redisson_lock__channel:{" .. KEYS[1] .. "}", "0") return 1`}},
		Convicts: []string{"partial Go"},
	},
	{
		Name: "takes-what-is-held", Layout: stage6.RedissonLayout,
		Edits:    map[string]edit{"acquire": {`redis.call("EXISTS", KEYS[1]) == 1`, "false"}},
		Convicts: []string{"exclusion Redisson", "contention Go"},
	},
	{
		Name: "renews-nothing", Layout: stage6.RedissonLayout, Edits: map[string]edit{"renew": {`"PEXPIRE"`, `"HSTRLEN"`}},
		Convicts: []string{"renewal Go"},
	},
	{
		Name: "no-lease", Layout: stage6.RedissonLayout, Edits: map[string]edit{"acquire": {`"PEXPIRE"`, `"HSTRLEN"`}},
		Convicts: []string{"expiry Go", "ttl Go"},
	},
	{
		Name: "token-starts-anew", Layout: stage6.RedissonLayout,
		Edits:    map[string]edit{"acquire": {`math.max(token + 1, tonumber(time[1]) * 1000000 + tonumber(time[2]))`, "1"}},
		Convicts: []string{"token Go"},
	},
}

func variantNamed(name string) (variant, error) {
	names := []string{faithful.Name}
	if name == faithful.Name {
		return faithful, nil
	}
	for _, v := range mutants {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	return variant{}, fmt.Errorf("there is no layout %q: choose one of %s", name, strings.Join(names, ", "))
}

// editor is a hook of go-redis that has Redis run edited scripts. Redis knows none
// by its hash, so each comes with its source.
type editor struct{ edits map[string]edit }

var _ redis.Hook = editor{}

// errUnknownScript is what Redis answers to a hash that it does not know.
type errUnknownScript struct{}

func (errUnknownScript) Error() string { return "NOSCRIPT No matching script. Please use EVAL." }

// RedisError tells go-redis that Redis would say so.
func (errUnknownScript) RedisError() {}

// ProcessHook edits what is sent.
func (e editor) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		switch args := cmd.Args(); args[0] {
		case "EVALSHA":
			cmd.SetErr(errUnknownScript{})
			return cmd.Err()
		case "EVAL":
			args[1] = e.edit(args[1].(string))
		}
		return next(ctx, cmd)
	}
}

// edit changes the script. One that no longer has what is to be changed would
// pass for convicted: that is a mistake of the mutant.
func (e editor) edit(source string) string {
	for name, edit := range e.edits {
		if !strings.HasPrefix(source, "-- "+name+"\n") {
			continue
		}
		if !strings.Contains(source, edit.old) {
			panic(fmt.Sprintf("script %s has no %s that could be edited", name, edit.old))
		}
		return strings.ReplaceAll(source, edit.old, edit.new)
	}
	return source
}

// DialHook changes nothing.
func (editor) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook changes nothing: no script is sent in a pipeline.
func (editor) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
