// Package batch handles the batches that Lambda invokes functions with: the changes of the
// table, for watchers (changes.go) and for receivers (dispatch.go and the files named after
// it), and the messages of the queues of deliveries (deliver.go). A record that cannot be
// handled at the moment is reported, so that Lambda hands it over again; one that never can
// is skipped or put aside, so that it blocks none of those after it.
//
// It is apart from boot, which wires these handlers, and reads no configuration.
package batch
