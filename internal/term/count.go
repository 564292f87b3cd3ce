package term

import "fmt"

// Count is a number of things, whose plural ends with an s.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
