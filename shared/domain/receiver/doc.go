// Package receiver says whom an event concerns: webhooks, which users have events sent to,
// with the secrets that sign the messages and the records of deliveries, and the addresses
// to which clients of A2A have updates of a task sent. Each is a delivery.Target of its own
// kind. The messages are built elsewhere: those to webhooks in shared/client/outbound, those
// of A2A in shared/transport/a2a.
//
// The third kind of receivers, automations, is a package of its own: an automation acts
// itself, so it needs sessions and runs.
package receiver
