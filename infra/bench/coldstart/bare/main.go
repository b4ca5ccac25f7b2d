// Command bare is the simplest Lambda function in Go, with which the others are compared.
package main

import "github.com/aws/aws-lambda-go/lambda"

func main() {
	lambda.Start(func() error { return nil })
}
