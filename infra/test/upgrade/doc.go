// Package upgrade checks newer versions against the tables of older ones. Each
// folder of testdata is a whole table as one version left it, with that version's
// answers (its README describes how it was made). The tests load the table, send
// the same requests to today's handlers, compare the answers, and then continue
// writing to the table.
package upgrade
