// Package outbound says how what is delivered is sent to addresses that users configured:
// the guarded client, the poster of deliveries, the messages to webhooks, and the keys that
// sign notifications of A2A, whose messages shared/transport/a2a builds.
//
// Requests reach only the public internet, so that users gain no access to the network of
// the deployment. The address is checked when a connection is made, after its name was
// resolved, so a name that resolves differently the second time does not help.
// code.dny.dev/ssrf decides which addresses are public; it follows IANA's registries of
// special purpose addresses.
package outbound
