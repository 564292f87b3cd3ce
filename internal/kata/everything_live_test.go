//go:build live

package kata

const everything = true
