// Command stubborn fails until the file named by SWITCH exists, and then appends
// each payload to that file.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func main() { lambda.Start(handle) }

func handle(_ context.Context, payload json.RawMessage) (events.DynamoDBEventResponse, error) {
	var answer events.DynamoDBEventResponse
	out, err := os.OpenFile(os.Getenv("SWITCH"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return answer, err
	}
	var event events.DynamoDBEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		return answer, err
	}
	line := string(payload)
	if event.Records != nil {
		line = "records"
		for _, record := range event.Records {
			line += " " + record.Change.NewImage["PK"].String()
		}
	}
	if _, err := fmt.Fprintln(out, line); err != nil {
		return answer, err
	}
	return answer, out.Close()
}
