// Package feedback stores feedback by user and by session, and marks the tasks that it is
// about, until the user is erased.
package feedback
