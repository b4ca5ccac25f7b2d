// Package upgrade holds a newer version to the tables of older ones. Each folder of
// testdata is a whole table as one version left it, with what that version answered
// (its README says how it was made). The tests load the table, ask the same again
// through today's handlers, compare the answers, and then go on writing in it.
package upgrade
