// Package meter counts what whole requests cost the table. It is a proxy in front of
// DynamoDB that adds up the capacity units that AWS charges for every request that
// passes, by the function that made it and by operation, so that nothing on the way
// is left out: access, quotas, idempotency, fan-out.
//
// Units are those that the engine reports, except where DynamoDB Local reports others
// than AWS charges: transactions (every write twice, in the table and in each index
// that changes), repeated transactions (reads), failed conditions (the write that did
// not happen), empty pages and missing items of batches (the least that a read costs).
// Reading a table's stream is free for functions and is not counted.
package meter
