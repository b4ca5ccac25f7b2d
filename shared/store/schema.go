package store

import "github.com/rethread/rethread/shared/store/table"

// ActivityIndex has a user's sessions by their last activity, a user's tasks by
// their ids, and timers by when they are due.
const ActivityIndex table.Index = "activity"

// Schema is the table as template.yaml makes it.
func Schema() table.Schema {
	return table.Schema{Indexes: []table.IndexSchema{{
		Name: ActivityIndex, Partition: "GPK", Sort: "GSK", NonKeyMembers: []string{"name", "agent", "app", "status"},
	}}}
}
