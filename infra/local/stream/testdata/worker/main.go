// Command worker does jobs, but for those that are to fail.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"
)

type job struct {
	Name string `json:"job"`
}

func main() { lambda.Start(handle) }

func handle(_ context.Context, j job) (string, error) {
	switch {
	case strings.HasPrefix(j.Name, "job/fail"):
		return "", fmt.Errorf("%s failed", j.Name)
	case strings.HasPrefix(j.Name, "job/die"):
		os.Exit(1)
	}
	return j.Name, nil
}
