package page

import (
	"fmt"
	"slices"
	"strings"

	failures "lockkata/failures_test"
	"lockkata/failures_test/oracle"
	"lockkata/failures_test/schedule"
	"lockkata/internal/stages"
)

// searchFor returns the command that finds the shortest schedule with which a stage breaks the
// same rule. It returns "" if that search finds none, if the failure is about wrong use, or if no
// property is about the rule.
func searchFor(v failures.Verdict, c stages.Stage) string {
	if v.Outcome != failures.Broken && v.Outcome != failures.Limit || v.Failure.Family == failures.Usage {
		return ""
	}
	for _, p := range schedule.Properties {
		isBroken := slices.ContainsFunc(p.Breaks, func(m oracle.Rule) bool {
			return slices.Contains(v.Failure.Breaks, m) && oracle.Violates(v.Findings, m)
		})
		if !isBroken || p.Guard != v.Failure.Guard {
			continue
		}
		for _, q := range schedule.Suite {
			if slices.Contains(q.Properties, p.Name) && strings.Contains(c.Search(p.Name, q.Env), "/") {
				return fmt.Sprintf("go run . explore --stage %s --property %s", c.ID, p.Name)
			}
		}
	}
	return ""
}
