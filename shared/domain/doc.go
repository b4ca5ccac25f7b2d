// Package domain is the folder of Rethread's rules: sessions and their timelines,
// runs, tasks, artifacts, watching, access, notifications, automations, webhooks
// and deliveries, and the interfaces that connect these rules with the store and
// with clients.
//
// Nothing in this folder opens a connection or depends on HTTP, DynamoDB or AWS.
package domain
