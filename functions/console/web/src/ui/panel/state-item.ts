// The menu item of a message that shows the state right after it.

import { Database } from 'lucide-preact';
import { useView } from '../context';
import { usePlace } from '../history/place';
import type { MenuItem } from '../kit/menu';
import type { MessageProps } from '../message/props';

export function useStateItem(props: MessageProps): MenuItem[] {
  const { panel, moment } = useView();
  const { message } = props;
  const place = usePlace(props);
  if (!place || place.hidden) return []; // not stored by the server yet, or rewound
  return [
    {
      id: 'state',
      label: 'State at this point',
      icon: Database,
      run: () => {
        moment.value = message.id;
        panel.value = 'state';
      },
    },
  ];
}
