// Command notes is a function for the local host's tests: it stores notes in the
// table.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	notes := &notes{client: dynamodb.NewFromConfig(cfg), table: os.Getenv("TABLE_NAME")}
	lambda.Start(notes.handle)
}

type notes struct {
	client *dynamodb.Client
	table  string
}

func (n *notes) handle(ctx context.Context, e events.APIGatewayV2HTTPRequest) (any, error) {
	switch {
	case e.PathParameters["id"] == "all":
		return n.all(ctx)
	case e.RequestContext.HTTP.Method == http.MethodPut:
		return n.put(ctx, key(e), e.Body)
	default:
		return n.get(ctx, key(e))
	}
}

func key(e events.APIGatewayV2HTTPRequest) map[string]types.AttributeValue {
	owner := e.RequestContext.Authorizer.JWT.Claims["sub"]
	return map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: owner + "/" + e.PathParameters["id"]},
	}
}

func (n *notes) put(ctx context.Context, item map[string]types.AttributeValue, text string) (any, error) {
	item["text"] = &types.AttributeValueMemberS{Value: text}
	if _, err := n.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &n.table, Item: item}); err != nil {
		return nil, err
	}
	return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusNoContent}, nil
}

func (n *notes) get(ctx context.Context, key map[string]types.AttributeValue) (any, error) {
	out, err := n.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &n.table, Key: key})
	if err != nil {
		return nil, err
	}
	text, ok := out.Item["text"].(*types.AttributeValueMemberS)
	if !ok {
		return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusNotFound}, nil
	}
	return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusOK, Body: text.Value}, nil
}

// all makes a call that the function's policy denies, and returns the error.
func (n *notes) all(ctx context.Context) (any, error) {
	_, err := n.client.Scan(ctx, &dynamodb.ScanInput{TableName: &n.table})
	answer := events.APIGatewayV2HTTPResponse{StatusCode: http.StatusOK}
	if err != nil {
		answer = events.APIGatewayV2HTTPResponse{StatusCode: http.StatusForbidden, Body: err.Error()}
	}
	return answer, nil
}
