// The questions that wait, between the conversation and the message input.

import { X } from 'lucide-preact';
import type { Chat } from '../../store/chat';
import type { Question } from '../../store/queue';
import { IconButton } from '../kit/icon-button';
import { exact } from '../kit/time';

export function QueueView({ chat }: { chat: Chat }) {
  const list = chat.queue.list.value;
  if (list.length === 0) return null;
  const failed = chat.state.value.status === 'failed';
  return (
    <section class="queue" aria-labelledby="queue-title" data-testid="queue">
      <h2 id="queue-title">
        <span role="status">
          {list.length === 1 ? '1 question' : `${list.length} questions`} in the queue
        </span>
      </h2>
      {failed && (
        <p class="queue-blocked">
          The last answer failed, and the queue waits.
          {chat.rights.value.write &&
            ' It goes on when you try again, ask something else or rewind to before the failure.'}
        </p>
      )}
      <ol>
        {list.map((question, i) => (
          <QuestionView key={question.run || `sending ${i}`} chat={chat} question={question} />
        ))}
      </ol>
    </section>
  );
}

function QuestionView({ chat, question }: { chat: Chat; question: Question }) {
  const { run, text, time } = question;
  const { queue } = chat;
  return (
    <li data-testid="queued" data-run={run}>
      <p class="queue-text" dir="auto" title={text}>
        {text || 'A question without text'}
      </p>
      <time dateTime={new Date(time).toISOString()}>{exact(time)}</time>
      {chat.rights.value.write && (
        <IconButton
          icon={X}
          label="Remove from the queue"
          size={16}
          disabled={run === '' || queue.cancelling.value.has(run)}
          onClick={() => void queue.cancel(run)}
        />
      )}
    </li>
  );
}
