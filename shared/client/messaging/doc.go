// Package messaging hands deliveries and events over to the queues and the event bus of AWS,
// where deliveries wait. Only shared/boot/deliveries imports it, so that few functions link
// the clients of SQS and EventBridge.
package messaging
