package queue

import (
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/receiver"
)

// Environment variables with the URLs of queues: the deliveries to webhooks, to A2A
// clients and to automations, the wakes of lanes that are slow or fail, and the
// abandoned deliveries.
const (
	deliveriesVariable      = "DELIVERIES_URL"
	pushesVariable          = "PUSHES_URL"
	triggersVariable        = "TRIGGERS_URL"
	deliveryRetriesVariable = "DELIVERY_RETRIES_URL"
	retriesVariable         = "RETRIES_URL"
	abandonedVariable       = "ABANDONED_URL"
)

func deliveryVariables() map[delivery.Kind]string {
	return map[delivery.Kind]string{
		receiver.WebhookKind: deliveriesVariable, receiver.PushKind: pushesVariable, automation.Kind: triggersVariable,
	}
}

// FromEnvironment returns the queues of deliveries to targets of these kinds.
func FromEnvironment(cfg aws.Config, kinds ...delivery.Kind) (*Queue, error) {
	urls, err := urlsOf(deliveryVariables(), kinds)
	if err != nil {
		return nil, err
	}
	return New(sqs.NewFromConfig(cfg), URLs{Deliveries: urls}), nil
}

// AllFromEnvironment returns the queues of deliveries, wakes and abandoned deliveries.
func AllFromEnvironment(cfg aws.Config) (*Queue, error) {
	kinds := []delivery.Kind{receiver.WebhookKind, receiver.PushKind, automation.Kind}
	deliveries, err := urlsOf(deliveryVariables(), kinds)
	if err != nil {
		return nil, err
	}
	wakes, err := urlsOf(map[delivery.Kind]string{
		receiver.WebhookKind: deliveryRetriesVariable, receiver.PushKind: retriesVariable, automation.Kind: retriesVariable,
	}, kinds)
	if err != nil {
		return nil, err
	}
	abandoned := os.Getenv(abandonedVariable)
	if abandoned == "" {
		return nil, fmt.Errorf("the environment variable %s names no queue", abandonedVariable)
	}
	return New(sqs.NewFromConfig(cfg), URLs{Deliveries: deliveries, Wakes: wakes, Abandoned: abandoned}), nil
}

func urlsOf(variables map[delivery.Kind]string, kinds []delivery.Kind) (map[delivery.Kind]string, error) {
	urls := map[delivery.Kind]string{}
	for _, kind := range kinds {
		if urls[kind] = os.Getenv(variables[kind]); urls[kind] == "" {
			return nil, fmt.Errorf("the environment variable %s names no queue", variables[kind])
		}
	}
	return urls, nil
}
