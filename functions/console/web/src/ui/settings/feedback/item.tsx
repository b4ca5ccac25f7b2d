// Feedback on one message: what was said of it, and a link to it.

import type { Feedback } from 'rethread';
import { Link } from 'wouter-preact';
import type { OnMessage } from '../../../store/given';
import type { About, Abouts } from '../../../store/given-about';
import { addressOf } from '../../history/address';
import { exact } from '../../kit/time';
import type { Mark } from '../webhooks/words';

const MARKS: Record<Feedback['type'], Mark> = {
  up: { text: 'Good answer', kind: 'good' },
  down: { text: 'Bad answer', kind: 'bad' },
};

const LONG = 300; // characters of a comment that are shown at once

export function GivenItem({ message, abouts }: { message: OnMessage; abouts: Abouts }) {
  const { key, newest, earlier } = message;
  const about = abouts.of(key, newest).value;
  const { text, kind } = MARKS[newest.type];
  const head = (
    <>
      <span class="row-title" dir="auto">
        {titleOf(about)}
      </span>
      <span class={`state-mark ${kind}`}>{text}</span>
      <span class="row-more">
        <Chat about={about} />
        {exact(newest.created_time)}
      </span>
    </>
  );
  const href = hrefOf(about);
  return (
    <>
      {href ? (
        <Link href={href} class="row">
          {head}
        </Link>
      ) : (
        <div class="row">{head}</div>
      )}
      {about?.state === 'failed' && (
        <p class="given-more">
          {about.reason}{' '}
          <button type="button" class="button small" onClick={() => abouts.again(key, newest)}>
            Try again
          </button>
        </p>
      )}
      {newest.text && <Comment text={newest.text} />}
      {earlier.length > 0 && <Earlier given={earlier} />}
    </>
  );
}

function titleOf(about: About | null): string {
  switch (about?.state) {
    case undefined:
      return 'Loading…';
    case 'shown':
      return cut(about.question) || 'An answer';
    case 'hidden':
      return about.session.epoch > 0 ? 'A rewound or deleted message' : 'A deleted message';
    case 'deleted':
      return 'The chat was deleted';
    case 'ended':
      return 'Your access to the chat has ended';
    case 'unknown':
      return 'A message that was not found';
    case 'failed':
      return 'The message could not be loaded';
  }
}

function hrefOf(about: About | null): string {
  if (about?.state !== 'shown' && about?.state !== 'hidden') return '';
  const { session, invocation } = about;
  if (about.state === 'shown') return addressOf(session.id, { at: invocation });
  return session.epoch > 0
    ? addressOf(session.id, { history: true, at: invocation })
    : addressOf(session.id);
}

function Chat({ about }: { about: About | null }) {
  if (about?.state !== 'shown' && about?.state !== 'hidden') return null;
  const { name, access, user_id: owner } = about.session;
  return (
    <>
      <bdi>{name || 'Untitled'}</bdi>
      {access && (
        <>
          {' '}
          from <bdi>{owner}</bdi>
        </>
      )}{' '}
      ·{' '}
    </>
  );
}

function Comment({ text }: { text: string }) {
  const short = cut(text);
  if (short === text) {
    return (
      <p class="given-more">
        “<bdi>{text}</bdi>”
      </p>
    );
  }
  return (
    <details class="given-more">
      <summary>
        <span class="given-short">
          “<bdi>{short}</bdi>”
        </span>
        <span class="given-less">Show less</span>
      </summary>
      <p dir="auto">{text}</p>
    </details>
  );
}

function Earlier({ given }: { given: readonly Feedback[] }) {
  return (
    <details class="given-more">
      <summary>Changed: what it was before</summary>
      <ul>
        {given.map(({ created_time, type, text }, i) => (
          // The list only grows at its end
          <li key={i}>
            {MARKS[type].text}, {exact(created_time)}
            {text && (
              <>
                : “<bdi>{cut(text)}</bdi>”
              </>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

function cut(text: string): string {
  const letters = text.length > LONG ? Array.from(text) : []; // never half of a surrogate pair
  return letters.length > LONG ? `${letters.slice(0, LONG).join('')}…` : text;
}
