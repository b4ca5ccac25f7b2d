// Package transport is the folder of what others call: REST, WebSockets, server-sent
// events, A2A and the console's page. A transport reads a request, asks the domain,
// and writes the answer; it keeps nothing, and knows neither the table nor AWS.
package transport
