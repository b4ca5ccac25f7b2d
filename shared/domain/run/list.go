package run

// ListQuery selects a page of a session's runs.
type ListQuery struct {
	UserID    string
	SessionID string
	Limit     int
	Before    int64 // ListPage.Next of the page before; 0 for the newest runs
}

// ListPage is a page of a session's runs, newest first.
type ListPage struct {
	Runs []Run
	Next int64 // 0 at the end; a page may be short, or empty, before it
}
