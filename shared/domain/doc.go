// Package domain is the folder of what Rethread is about: sessions and their
// timelines, runs, tasks, artifacts, watching, access, notifications, automations, webhooks and
// deliveries; the rules they follow, and the interfaces by which the rules meet the
// store and the world.
//
// Nothing here opens a connection or knows HTTP, DynamoDB or AWS.
package domain
