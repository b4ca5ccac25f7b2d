package deliveries

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// ForgetLog implements lifecycle.Dependent: it removes configurations and the
// deliveries that wait for them.
func (s *Pushes) ForgetLog(ctx context.Context, log string) error {
	err := s.base.DB.Pages(ctx, records.Partition(listPK(log)), func(page []table.Item) (bool, error) {
		var writes []table.Write
		for _, item := range page {
			at := pushPlace{log, table.Text(item, table.SK)}
			writes = append(writes, table.Delete(at.configs()))
			configs, _ := item[attrConfigs].(*types.AttributeValueMemberM)
			if configs == nil {
				continue
			}
			for id := range configs.Value {
				if err := s.lanes.Forget(ctx, receiver.PushTarget(log, at.task, id).Group()); err != nil {
					return false, err
				}
			}
		}
		if err := s.base.DB.BatchWrite(ctx, writes); err != nil { // first, as the list names them
			return false, err
		}
		return true, s.base.DB.DeleteItems(ctx, page)
	})
	if err != nil {
		return fmt.Errorf("remove the push configurations of log %s: %w", log, err)
	}
	return nil
}
