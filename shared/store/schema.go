package store

import "github.com/rethread/rethread/shared/store/table"

// ActivityIndex holds a user's sessions by last activity, a user's tasks by id, and
// timers by due time.
const ActivityIndex table.Index = "activity"

// Schema returns the table's schema as template.yaml declares it.
func Schema() table.Schema {
	return table.Schema{Indexes: []table.IndexSchema{{
		Name: ActivityIndex, Partition: "GPK", Sort: "GSK", NonKeyMembers: []string{"name", "agent", "app", "status"},
	}}}
}
