// Package table creates the template's DynamoDB tables in a local engine.
package table

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// Region is the region of everything local.
const Region = "us-east-1"

const (
	activeTimeout = 20 * time.Second
	attempts      = 3
	longestWait   = 50 * time.Millisecond
)

// AccessKey is the access key of a system that does not share its engine.
const AccessKey = "local"

// Credentials returns fictitious credentials: a local engine does not verify
// signatures, but may have a database for each access key.
func Credentials(accessKey string) aws.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(accessKey, "local", "")
}

// NewClient returns a client of the engine at endpoint, with Credentials of
// accessKey. Its retries use short pauses because the engine is local.
func NewClient(endpoint, accessKey string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       Region,
		BaseEndpoint: aws.String(endpoint),
		Credentials:  Credentials(accessKey),
		// The engine's error responses have wrong checksums, which would close the
		// connection and log a warning for each.
		DisableValidateResponseChecksum: true,
		Retryer: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = attempts
			o.MaxBackoff = longestWait
		}),
	})
}

// Ensure creates the table unless it exists. An existing table keeps its contents;
// created reports which case it was.
func Ensure(ctx context.Context, client *dynamodb.Client, table samtemplate.Table) (created bool, err error) {
	_, err = client.CreateTable(ctx, request(table))
	var exists *types.ResourceInUseException
	switch {
	case errors.As(err, &exists):
	case err != nil:
		return false, fmt.Errorf("create table %s: %w", table.Name, err)
	default:
		created = true
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = longestWait, longestWait
	})
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &table.Name}, activeTimeout); err != nil {
		return false, fmt.Errorf("wait for table %s: %w", table.Name, err)
	}
	if !created || table.TTLAttribute == "" {
		return created, nil
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &table.Name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: &table.TTLAttribute, Enabled: aws.Bool(true),
		},
	})
	if err != nil {
		return created, fmt.Errorf("set the TTL of table %s: %w", table.Name, err)
	}
	return created, nil
}

func request(table samtemplate.Table) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{
		TableName:   &table.Name,
		BillingMode: types.BillingModePayPerRequest,
		KeySchema:   keySchema(table.Key),
	}
	for _, a := range table.Attributes {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
			AttributeName: aws.String(a.Name), AttributeType: types.ScalarAttributeType(a.Type),
		})
	}
	for _, index := range table.Indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(index.Name), KeySchema: keySchema(index.Key),
			Projection: &types.Projection{
				ProjectionType: types.ProjectionType(index.Projection), NonKeyAttributes: index.NonKey,
			},
		})
	}
	if table.StreamView != "" {
		in.StreamSpecification = &types.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(table.StreamView),
		}
	}
	return in
}

func keySchema(elements []samtemplate.KeyElement) []types.KeySchemaElement {
	var schema []types.KeySchemaElement
	for _, e := range elements {
		schema = append(schema, types.KeySchemaElement{AttributeName: aws.String(e.Name), KeyType: types.KeyType(e.Type)})
	}
	return schema
}
