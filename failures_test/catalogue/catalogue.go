package catalogue

import (
	"slices"

	"lockkata/internal/i18n"
)

// All is the catalogue of a lock of one server, family by family.
var All = slices.Concat(
	leaseFailures, ownerFailures, renewalFailures, severalRenewalFailures, releaseFailures, waitingFailures, networkFailures, contextFailures,
	sharingFailures, serverFailures, limitFailures, twins(), tokenFailures, guardFailures, usageFailures, normalFailures,
)

// OfLocks returns the failures of the lock itself, without those of its users and of the resource.
// Other people's locks are checked for these only.
func OfLocks() []Failure {
	return slices.DeleteFunc(slices.Clone(All), func(f Failure) bool { return f.Family == Guards || f.Family == Usage })
}

// BasicFirst returns failures with the basic ones first.
func BasicFirst(all []Failure) (sorted []Failure) {
	for _, isBasic := range []bool{true, false} {
		for _, f := range all {
			if f.Basic == isBasic {
				sorted = append(sorted, f)
			}
		}
	}
	return sorted
}

// OfServers are the failures of locks on several servers: a master with replicas, or independent ones.
var OfServers = slices.Concat(OfReplicas, OfRedLock)

// Everything is every failure: All, and those of locks on several servers.
var Everything = slices.Concat(All, OfServers)

// Find returns the failure of that id.
func Find(id string) (Failure, bool) {
	for _, f := range Everything {
		if f.ID == id {
			return f, true
		}
	}
	return Failure{}, false
}

func init() {
	for _, f := range Everything {
		i18n.Register(i18n.Text(f.Family), i18n.Text(f.Title), i18n.Text(f.Story), i18n.Text(f.Fixed), i18n.Text(f.Live))
	}
	i18n.Register(i18n.Text(Resource), i18n.Text(Majority), i18n.Text(Caller))
	i18n.Register(i18n.Text(FixedLease), i18n.Text(LongLease), i18n.Text(Beside), i18n.Text(BesideRenewed), i18n.Text(Crowded), i18n.Text(Nested), i18n.Text(Both))
}
