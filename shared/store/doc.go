// Package store is the folder of what keeps the domain in a table. Other code meets
// it through the interfaces of the domain; nothing else talks to DynamoDB.
package store
