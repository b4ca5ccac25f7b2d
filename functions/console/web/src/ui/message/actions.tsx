// The actions of a message: some as buttons, the rest in a menu, which has all of them on touch screens.

import { Copy, Ellipsis } from 'lucide-preact';
import { textOf } from '../../store/message';
import { useView } from '../context';
import { useFeedback } from '../feedback/feedback';
import { useCopy } from '../kit/copy';
import { IconButton } from '../kit/icon-button';
import { lazy } from '../kit/lazy';
import { Menu, type MenuItem } from '../kit/menu';
import { exact } from '../kit/time';
import { useEditItems, useRegenerateItems } from './again';
import { useMessageMenu } from './menu';
import type { MessageProps } from './props';
import { Switcher } from './switcher';

const Tokens = lazy(() => import('./tokens').then((m) => m.Tokens));

export function Actions(props: MessageProps) {
  const { message, turn, last } = props;
  const { touch } = useView();
  const copy = useCopy();
  const text = textOf(message);
  const ended = last && turn.outcome !== 'running';
  const feedback = useFeedback(props, ended);
  const copying = { id: 'copy', label: 'Copy', icon: Copy, run: () => void copy(text) };
  const buttons: MenuItem[] = [
    ...feedback.items,
    ...(text ? [copying] : []),
    ...useEditItems(props),
    ...useRegenerateItems(props),
  ];
  const rest = useMessageMenu(props);
  const items = touch.value ? [...buttons, ...rest] : rest;
  const time = exact(message.event.created_time);
  return (
    <footer class="actions" data-actions={message.id}>
      {!touch.value && buttons.map((item) => <ActionButton key={item.id} {...item} />)}
      {items.length > 0 && (
        <Menu label="More" icon={Ellipsis} items={items} note={touch.value ? time : ''} />
      )}
      {!touch.value && (
        <time dateTime={new Date(message.event.created_time).toISOString()}>{time}</time>
      )}
      {feedback.note}
      {ended && telling(props) && <Tokens {...props} />}
      <Switcher {...props} />
    </footer>
  );
}

function ActionButton({ id, label, icon, run, preload, pressed, disabled }: MenuItem) {
  return (
    <IconButton
      icon={icon}
      label={label}
      size={16}
      class={pressed === undefined ? '' : 'thumb'}
      data-action={id}
      aria-pressed={pressed}
      disabled={disabled}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={run}
    />
  );
}

// Whether an event of the answer tells its tokens.
const telling = ({ chat, turn }: MessageProps): boolean =>
  [...chat.items.peek(), ...turn.messages.map(({ event }) => event)].some(
    (event) => event.invocation_id === turn.invocation && 'usage_metadata' in event,
  );
