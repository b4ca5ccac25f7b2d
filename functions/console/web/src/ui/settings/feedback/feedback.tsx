// The section "Feedback": what the user has said of answers.

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FeedbackType } from '../../../api/tasks';
import { GivenFeedback } from '../../../store/given';
import { Abouts } from '../../../store/given-about';
import { useApp } from '../../context';
import { Section } from '../section';
import { ShowMore } from '../show-more';
import { GivenItem } from './item';
import './feedback.css';

export function Feedback() {
  const { api } = useApp();
  const [type, setType] = useState<FeedbackType | ''>('');
  const given = useMemo(() => new GivenFeedback(api, type || undefined), [api, type]);
  const abouts = useMemo(() => new Abouts(api), [api]);
  useEffect(() => given.start(), [given]);
  const { loaded, loading, more, messages } = given;
  const none = loaded.value && messages.value.length === 0;
  return (
    <Section title="Feedback" actions={<Filter type={type} choose={setType} />}>
      <p class="hint">
        What you have said of answers, in your chats and in those that others share with you. It can
        be changed at the answer. It is deleted with its chat.
      </p>
      <Failed given={given} />
      {none && !more.value && (
        <p>{type ? 'There is no such feedback.' : 'You have given no feedback yet.'}</p>
      )}
      {messages.value.length > 0 && (
        <ul class="rows">
          {messages.value.map((message) => (
            <li key={message.key} data-testid="given">
              <GivenItem message={message} abouts={abouts} />
            </li>
          ))}
        </ul>
      )}
      {!loaded.value && loading.value && (
        <p class="hint" role="status">
          Loading…
        </p>
      )}
      <ShowMore list={given} />
    </Section>
  );
}

function Filter({ type, choose }: { type: string; choose: (type: FeedbackType | '') => void }) {
  return (
    <select
      class="field feedback-filter"
      aria-label="Which feedback"
      value={type}
      onChange={({ currentTarget }) => choose(currentTarget.value as FeedbackType | '')}
    >
      <option value="">All</option>
      <option value="up">Good answers</option>
      <option value="down">Bad answers</option>
    </select>
  );
}

function Failed({ given }: { given: GivenFeedback }) {
  const failed = given.failed.value;
  if (!failed) return null;
  return (
    <div class="notice" role="alert">
      <p>
        {failed} {given.loaded.value && 'What you see may be out of date.'}
      </p>
      <button type="button" class="button small" onClick={() => void given.refresh()}>
        Try again
      </button>
    </div>
  );
}
