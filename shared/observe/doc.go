// Package observe is the folder of logs and metrics: what the system tells its
// operators. It builds on base alone, so that every layer may log and count.
//
// Traces are in client, since they follow calls that leave the process.
package observe
