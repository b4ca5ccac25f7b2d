// Package observe is the folder of logs and metrics, for operators. It depends only on
// base, so that every layer may log and count.
//
// Traces are in client, since they follow calls that leave the process.
package observe
