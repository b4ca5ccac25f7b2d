// The menu of a message. A feature adds its items here, as a hook that returns none if they do not
// apply.

import { useForkItems } from '../fork/items';
import type { MenuItem } from '../kit/menu';
import { useStateItem } from '../panel/state-item';
import { useRewindItems } from '../rewind/items';
import type { MessageProps } from './props';

export function useMessageMenu(props: MessageProps): MenuItem[] {
  return [...useRewindItems(props), ...useForkItems(props), ...useStateItem(props)];
}
