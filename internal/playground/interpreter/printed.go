package interpreter

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// mostPrinted is how many bytes are kept of what locks print.
const mostPrinted = 4 << 10

// Printed is what locks print. It does not go to the process's standard output: in a page
// nobody looks there, and a goroutine in a bubble cannot write there.
var Printed Output

// Output keeps the beginning of what is written to it.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps what there is room for, and never fails.
func (o *Output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(text[:min(len(text), mostPrinted-o.text.Len())])
	return len(text), nil
}

// Take is what was kept, which is then forgotten.
func (o *Output) Take() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.text.Reset()
	return o.text.String()
}

// values writes values as the functions print and println of Go itself do.
func (o *Output) values(all []reflect.Value, between, end string) {
	var texts []string
	for _, v := range all {
		texts = append(texts, fmt.Sprint(v.Interface()))
	}
	_, _ = o.Write([]byte(strings.Join(texts, between) + end))
}

// instead are functions in the place of those of a library.
var instead = map[string]any{
	"fmt.Print":   func(a ...any) (int, error) { return fmt.Fprint(&Printed, a...) },
	"fmt.Printf":  func(format string, a ...any) (int, error) { return fmt.Fprintf(&Printed, format, a...) },
	"fmt.Println": func(a ...any) (int, error) { return fmt.Fprintln(&Printed, a...) },
}
