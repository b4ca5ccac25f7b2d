// A chat in which the words were said, with an excerpt of the newest such message, and of others below it.

import { useMemo } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { agentName } from '../../store/agents';
import { piecesOf } from '../../store/marks';
import type { Found } from '../../store/search';
import { type Hit, SearchWithin } from '../../store/search-within';
import { useApp } from '../context';
import { addressOf } from '../history/address';
import { dayOf } from '../kit/time';

export function Result({ session, words }: { session: Found; words: string }) {
  const { id, name, updated_time, match, access, user_id: owner } = session;
  return (
    <li data-testid="search-result">
      <Link href={addressOf(id, { at: match.invocation_id })}>
        <span class="search-head">
          <b dir="auto">{name || 'Untitled'}</b>
          <time dateTime={new Date(updated_time).toISOString()}>{dayOf(updated_time)}</time>
        </span>
        {access && (
          <span class="search-owner" title={owner}>
            from <bdi>{owner}</bdi>
          </span>
        )}
        <Excerpt hit={match} shared={access !== undefined} words={words} />
      </Link>
      <Within session={session} words={words} />
    </li>
  );
}

function Excerpt({ hit, shared, words }: { hit: Hit; shared: boolean; words: string }) {
  return (
    <span class="search-excerpt">
      <span class="search-author">
        <bdi>{authorOf(hit, shared)}</bdi>:
      </span>{' '}
      <bdi dir="auto">
        {piecesOf(hit.text, words).map(({ text, marked }, i) =>
          // The pieces of a text keep their places
          marked ? <mark key={i}>{text}</mark> : text,
        )}
      </bdi>
    </span>
  );
}

// In a chat that several people write in, a question is of any of them.
function authorOf({ author }: Hit, shared: boolean): string {
  if (author !== 'user') return agentName(author);
  return shared ? 'User' : 'You';
}

// The other messages with the words, once the user asks for them.
function Within({ session, words }: { session: Found; words: string }) {
  const { api } = useApp();
  const { id, match, access, name } = session;
  const within = useMemo(
    () => new SearchWithin(api, { id, match }, words),
    [api, id, match.seq, words],
  );
  const hits = within.hits.value;
  const state = within.state.value;
  const none = state === 'done' && hits.length === 0;
  return (
    <div class="search-within">
      {hits.length > 0 && (
        <ol aria-label={`More in ${name || 'Untitled'}`}>
          {hits.map((hit) => (
            <li key={hit.event_id}>
              <Link href={addressOf(id, { at: hit.invocation_id })}>
                <Excerpt hit={hit} shared={access !== undefined} words={words} />
              </Link>
            </li>
          ))}
        </ol>
      )}
      <p role="status" class="hint">
        {none && 'Nothing else in this chat.'}
        {state === 'failed' && 'The chat could not be read.'}
      </p>
      {state !== 'done' && (
        <button
          type="button"
          class="button quiet small"
          aria-busy={state === 'reading'}
          aria-label={`More in this chat: ${name || 'Untitled'}`}
          onClick={() => void within.read()}
        >
          {state === 'reading' ? 'Searching…' : 'More in this chat'}
        </button>
      )}
    </div>
  );
}
