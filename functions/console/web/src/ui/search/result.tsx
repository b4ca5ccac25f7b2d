// A chat in which the words were said, with an excerpt of the message.

import { Link } from 'wouter-preact';
import type { Found } from '../../store/search';
import { addressOf } from '../history/address';
import { dayOf } from '../kit/time';
import { piecesOf } from './marks';

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
        <span class="search-excerpt">
          <span class="search-author">
            <bdi>{authorOf(session)}</bdi>:
          </span>{' '}
          <bdi dir="auto">
            {piecesOf(match.text, words).map(({ text, marked }, i) =>
              // The pieces of a text keep their places
              marked ? <mark key={i}>{text}</mark> : text,
            )}
          </bdi>
        </span>
      </Link>
    </li>
  );
}

// In a chat that several people write in, a question is of any of them.
function authorOf({ match: { author }, access }: Found): string {
  if (author !== 'user') return author;
  return access ? 'User' : 'You';
}
