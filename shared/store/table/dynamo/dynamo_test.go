package dynamo_test

import (
	"testing"

	"github.com/rethread/rethread/infra/test/dynamotest"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/store/table/dynamo"
	"github.com/rethread/rethread/shared/store/table/tabletest"
)

func TestEngine(t *testing.T) {
	t.Parallel()
	tabletest.Run(t, func(t *testing.T) table.Engine {
		t.Helper()
		return dynamo.New(dynamotest.Client(t), dynamotest.Table(t), tabletest.Schema())
	})
}
