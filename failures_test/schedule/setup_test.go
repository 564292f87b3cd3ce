package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockkata/failures_test/schedule"
	"lockkata/internal/i18n"
)

func TestNamesHaveAWordInChinese(t *testing.T) {
	var ids []string
	for _, e := range schedule.Envs {
		ids = append(ids, e.Name)
	}
	for _, p := range schedule.Properties {
		ids = append(ids, p.Name)
	}
	for _, id := range ids {
		require.Equal(t, id, schedule.NameIn(i18n.English, id))
		require.Regexp(t, `\p{Han}.*（`+id+`）$`, schedule.NameIn(i18n.Chinese, id))
	}
}
