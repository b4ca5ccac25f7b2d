package checkup

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/infra/ops/deployment"
)

// Tables checks that the stack's tables can be used, have a stream, expire items,
// and can be restored.
func Tables(ctx context.Context, d *deployment.Deployment, client *dynamodb.Client) []Finding {
	var out []Finding
	for _, id := range d.Resources(deployment.Table) {
		name := d.Resource(deployment.Table, id)
		described, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			out = append(out, requestFailed("table "+name, "dynamodb:DescribeTable", err)...)
			continue
		}
		out = append(out, tableState(name, described.Table), expiry(ctx, name, client), recovery(ctx, d, name, client))
	}
	if out == nil {
		return []Finding{{Name: "table", Status: Fail, Detail: "the stack has none", Advice: "deploy template.yaml"}}
	}
	return out
}

// tableState checks the table, its indexes and its stream.
func tableState(name string, t *types.TableDescription) Finding {
	f := Finding{Name: "table " + name, Status: Fail}
	var indexes []string
	for _, index := range t.GlobalSecondaryIndexes {
		indexes = append(indexes, aws.ToString(index.IndexName))
		if index.IndexStatus != types.IndexStatusActive {
			f.Detail = fmt.Sprintf("its index %s is %s", aws.ToString(index.IndexName), index.IndexStatus)
			f.Advice = "wait until it is ACTIVE; until then lists of sessions are incomplete"
			return f
		}
	}
	stream := t.StreamSpecification
	switch {
	case t.TableStatus != types.TableStatusActive && t.TableStatus != types.TableStatusUpdating:
		f.Detail = "it is " + string(t.TableStatus)
		f.Advice = "nothing can be stored until it is ACTIVE; if it was deleted, restore it to its last point in time"
	case stream == nil || !aws.ToBool(stream.StreamEnabled) || stream.StreamViewType != types.StreamViewTypeNewAndOldImages:
		f.Detail = "its stream is off, or lacks new and old images"
		f.Advice = "watchers and webhooks receive nothing: deploy template.yaml again to enable it"
	default:
		f.Status, f.Detail = OK, fmt.Sprintf("%s, index %s, stream on", t.TableStatus, strings.Join(indexes, ", "))
	}
	return f
}

func expiry(ctx context.Context, name string, client *dynamodb.Client) Finding {
	f := Finding{Name: "expiry of items", Status: Warn}
	out, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	switch {
	case err != nil:
		return requestFailed(f.Name, "dynamodb:DescribeTimeToLive", err)[0]
	case out.TimeToLiveDescription == nil || out.TimeToLiveDescription.TimeToLiveStatus != types.TimeToLiveStatusEnabled:
		f.Detail, f.Advice = "off: expired items are kept, and billed", "enable time to live on the attribute expires"
	default:
		f.Status, f.Detail = OK, "on, of "+aws.ToString(out.TimeToLiveDescription.AttributeName)
	}
	return f
}

func recovery(ctx context.Context, d *deployment.Deployment, name string, client *dynamodb.Client) Finding {
	f := Finding{Name: "point-in-time recovery", Status: Warn}
	if d.Local {
		f.Status, f.Detail = Skipped, notLocal
		return f
	}
	out, err := client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &name})
	if err != nil {
		return requestFailed(f.Name, "dynamodb:DescribeContinuousBackups", err)[0]
	}
	backups := out.ContinuousBackupsDescription
	if backups == nil || backups.PointInTimeRecoveryDescription == nil ||
		backups.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus != types.PointInTimeRecoveryStatusEnabled {
		f.Detail, f.Advice = "off: data deleted by mistake cannot be restored", "enable it, as template.yaml does"
		return f
	}
	f.Status, f.Detail = OK, "on"
	if since := backups.PointInTimeRecoveryDescription.EarliestRestorableDateTime; since != nil {
		f.Detail = "on, back to " + since.UTC().Format("2006-01-02 15:04 MST")
	}
	return f
}
