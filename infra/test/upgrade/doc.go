// Package upgrade checks newer versions against the tables of older ones. A story
// (story_test.go) fills a table with everything that a version stores. Each folder of
// testdata is such a table as one version left it, with that version's answers. The
// tests load it, send the same requests to today's handlers, compare the answers, and
// then continue writing to it. RECORD_TABLE=0.2.0 makes TestRecord record this version's.
//
//	items.jsonl.zst     the items, in the JSON format of DynamoDB's streams
//	answers.jsonl.zst   requests and answers; long bodies by their length and SHA-256
//	changed.json        answers that a later version changed on purpose, written by hand
//	changes.jsonl.zst   records of the table's stream, and what follows from them
//	messages.jsonl.zst  the contents of the queues when the story ends
//	stack.json          logical ids, mappings, outputs and keys of the template
//	story.json          the time when the story ends, and ids that it needs
package upgrade
