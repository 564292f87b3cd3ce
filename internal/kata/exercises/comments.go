package exercises

import (
	"strings"

	"lockkata/internal/i18n"
)

// comments are what the kata writes for people into the learner's files: into the skeleton, the lock to
// repair, the test and subject.go. The comments of our own locks stay English.
var comments = []i18n.Text{
	i18n.New("Package mylock is the lock that you write."),
	i18n.New("Package mylock is a lock with a mistake."),
	i18n.New("Mutex is a lock that is shared by every process that uses the same Redis and\n// the same name. A Mutex is one owner."),
	i18n.New("NewMutex returns the lock of that name, not yet held. ttl is its lease."),
	i18n.New("mylock: this method is yours to write"),
	i18n.New("TryLock makes one attempt. It returns false and no error when another client\n// holds the lock."),
	i18n.New("Lock tries until it holds the lock. It returns an error when ctx ends first."),
	i18n.New("Unlock frees the lock."),
	i18n.New("TestMyLock plays the failures of exercise"),
	i18n.New(" on your lock. \"go run . kata check\" asks for more.\n// This file is written anew with each exercise."),
	i18n.New("Subject shows your lock to the failures: how it is made, and with which options. The file\n// is yours. " +
		"Change it when your lock looks different from the outside."),
	i18n.New("Once Lock returns a hold:"),
	i18n.New("for failures about a lease that ends"),
	i18n.New("With an option WithoutWatchdog:"),
}

// translated returns a file of the kata in the learner's language.
func translated(source string, l i18n.Language) string {
	if l == i18n.Chinese {
		for _, text := range comments {
			source = strings.ReplaceAll(source, string(text), text.Localize(l))
		}
	}
	return source
}
