// One message: its content, changes and actions.

import { memo } from 'preact/compat';
import { agentName } from '../../store/agents';
import { grouped } from '../../store/calls';
import { type Block, isQuestion, type Message } from '../../store/message';
import { Failure } from '../chat/failure';
import { lazy } from '../kit/lazy';
import { Markdown } from '../markdown/markdown';
import { Actions } from './actions';
import { Editor, useEditing } from './again';
import { extras } from './extras';
import type { MessageProps } from './props';
import { Said } from './said';
import { Thought } from './thought';

const FilePart = lazy(() => import('./file').then((m) => m.FilePart));
const Tools = lazy(() => import('./tools').then((m) => m.Tools));

export const MessageView = memo((props: MessageProps) => {
  const { message, turn, last } = props;
  const { role, streaming, stopped, interrupted, blocks } = message;
  const asks = isQuestion(message);
  const editing = useEditing(props);
  const first = turn.messages.find((other) => other.role === 'agent')?.id === message.id;
  return (
    <article
      class={`message ${role} ${message.invocation === props.chat.newest.value ? 'newest' : ''}`}
      aria-label={role === 'user' ? 'You' : agentName(message.author)}
      data-testid="message"
      data-role={role}
      data-invocation={message.invocation}
      data-status={streaming ? 'in_progress' : message.event.status}
    >
      {role === 'agent' && first && (
        <p class="author" dir="auto">
          {agentName(message.author)}
        </p>
      )}
      {editing && <Editor chat={props.chat} message={message} />}
      {!editing && (blocks.length > 0 || streaming) && (
        <Body blocks={blocks} role={role} streaming={streaming} />
      )}
      {stopped && <p class="stopped">Stopped</p>}
      {interrupted && <p class="stopped">Interrupted</p>}
      {extras.map((Extra) => (
        <Extra key={Extra.name} {...props} />
      ))}
      {role === 'agent' && last && turn.outcome === 'failed' && (
        <Failure chat={props.chat} turn={turn} />
      )}
      {!streaming && !editing && (last || asks) && <Actions {...props} />}
    </article>
  );
});

interface BodyProps {
  blocks: readonly Block[];
  role: Message['role'];
  streaming: boolean;
}

const Body = memo(({ blocks, role, streaming }: BodyProps) => (
  <div class="body" data-testid="body">
    {grouped(blocks).map((block, i, all) => (
      // Parts keep their positions
      <BlockView key={i} block={block} role={role} growing={streaming && i === all.length - 1} />
    ))}
    {streaming && blocks.length === 0 && <p class="caret" aria-hidden="true" />}
  </div>
));

interface BlockProps {
  block: ReturnType<typeof grouped>[number];
  role: Message['role'];
  growing: boolean;
}

function BlockView({ block, role, growing }: BlockProps) {
  switch (block.kind) {
    case 'text':
      return role === 'user' ? (
        <Said text={block.text} />
      ) : (
        <Markdown text={block.text} growing={growing} />
      );
    case 'thought':
      return <Thought text={block.text} growing={growing} />;
    case 'calls':
      return <Tools calls={block.calls} growing={growing} />;
    case 'answer':
      return <Said text={block.text} />;
    case 'file':
      return <FilePart file={block} />;
  }
}
