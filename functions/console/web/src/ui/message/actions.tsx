// The actions of a message: some as buttons, the rest in a menu.

import { Copy, Ellipsis } from 'lucide-preact';
import { textOf } from '../../store/message';
import { useCopy } from '../kit/copy';
import { IconButton } from '../kit/icon-button';
import { lazy } from '../kit/lazy';
import { Menu } from '../kit/menu';
import { exact } from '../kit/time';
import { Edit, Regenerate } from './again';
import { footers } from './extras';
import { useMessageMenu } from './menu';
import type { MessageProps } from './message';
import { Switcher } from './switcher';

const Tokens = lazy(() => import('./tokens').then((m) => m.Tokens));

export function Actions(props: MessageProps) {
  const { message, turn, last } = props;
  const copy = useCopy();
  const items = useMessageMenu(props);
  const text = textOf(message);
  return (
    <footer class="actions">
      {last &&
        turn.outcome !== 'running' &&
        footers.map((Footer) => <Footer key={Footer.name} {...props} />)}
      {text && <IconButton icon={Copy} label="Copy" size={16} onClick={() => void copy(text)} />}
      <Edit {...props} />
      <Regenerate {...props} />
      {items.length > 0 && <Menu label="More" icon={Ellipsis} items={items} />}
      <time dateTime={new Date(message.event.created_time).toISOString()}>
        {exact(message.event.created_time)}
      </time>
      {last && turn.outcome !== 'running' && telling(props) && <Tokens {...props} />}
      <Switcher {...props} />
    </footer>
  );
}

// Whether an event of the answer tells its tokens.
const telling = ({ chat, turn }: MessageProps): boolean =>
  [...chat.items.peek(), ...turn.messages.map(({ event }) => event)].some(
    (event) => event.invocation_id === turn.invocation && 'usage_metadata' in event,
  );
