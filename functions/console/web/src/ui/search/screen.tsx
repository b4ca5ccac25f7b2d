// The search of what was said. Enter in the field goes to the first result, which opens its chat at
// the message.

import { Search } from 'lucide-preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation, useSearchParams } from 'wouter-preact';
import { type Found, MessageSearch, type SearchState } from '../../store/search';
import { Bar } from '../chat/header';
import { useApp } from '../context';
import { useTitle } from '../kit/hooks';
import { searchPath } from './address';
import { Result } from './result';
import './search.css';

const PAUSE = 300; // milliseconds without typing after which the search begins

export function SearchScreen() {
  const { api } = useApp();
  const [params] = useSearchParams();
  const words = params.get('q') ?? '';
  const [search] = useState(() => new MessageSearch(api));
  useTitle(words ? `Search: ${words}` : 'Search');
  useEffect(() => {
    if (words !== search.words.peek()) search.search(words);
  }, [search, words]);
  useEffect(() => () => search.stop(), [search]);
  return (
    <main class="chat search-screen">
      <Bar>
        <h1>Search in messages</h1>
      </Bar>
      <div class="search-content">
        <Field words={words} search={search} />
        <Progress search={search} />
        <Results label="Results" found={search.found.value} words={search.words.value} />
        {search.shared.value.length > 0 && <h2>Shared with me</h2>}
        <Results label="Shared with me" found={search.shared.value} words={search.words.value} />
        <More search={search} />
      </div>
    </main>
  );
}

interface ResultsProps {
  label: string;
  found: readonly Found[];
  words: string;
}

function Results({ label, found, words }: ResultsProps) {
  if (found.length === 0) return null;
  return (
    <ol class="search-results" aria-label={label} onKeyDown={move}>
      {found.map((session) => (
        <Result key={session.id} session={session} words={words} />
      ))}
    </ol>
  );
}

function Field({ words, search }: { words: string; search: MessageSearch }) {
  const [, navigate] = useLocation();
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  useEffect(() => {
    field.current?.focus();
    return () => clearTimeout(timer.current);
  }, []);
  useEffect(() => {
    if (field.current && field.current.value.trim() !== words) field.current.value = words;
  }, [words]);
  const begin = (text: string) => {
    clearTimeout(timer.current);
    navigate(searchPath(text.trim()), { replace: true });
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? '';
    if (text !== words) begin(text);
    else if (search.count.value > 0) focusFirst();
    else search.resume();
  };
  return (
    <search>
      <form onSubmit={onSubmit} class="search-field">
        <Search size={18} aria-hidden="true" />
        <input
          ref={field}
          type="search"
          dir="auto"
          aria-label="Words that were said"
          placeholder="Words that were said"
          autocomplete="off"
          maxLength={256}
          defaultValue={words}
          onInput={({ currentTarget: { value } }) => {
            search.stop(); // what is found now would be for other words
            clearTimeout(timer.current);
            timer.current = setTimeout(() => begin(value), PAUSE);
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown' && focusFirst()) event.preventDefault();
          }}
        />
      </form>
    </search>
  );
}

const counted = (count: number): string => (count === 1 ? '1 chat' : `${count} chats`);

function Progress({ search }: { search: MessageSearch }) {
  const count = search.count.value;
  const texts: Record<SearchState, string> = {
    idle: 'Finds the chats in which all words were said in one message.',
    searching: count > 0 ? `Searching… ${counted(count)} so far` : 'Searching…',
    stopped: count > 0 ? `${counted(count)} so far` : 'Stopped. Nothing was found so far.',
    done: count > 0 ? counted(count) : 'Nothing was found.',
    failed: '',
  };
  const state = search.state.value;
  return (
    <div class="search-progress">
      <p role="status" data-testid="search-state">
        {texts[state]}
      </p>
      {state === 'searching' && (
        <button type="button" class="button small" onClick={() => search.stop()}>
          Stop
        </button>
      )}
    </div>
  );
}

function More({ search }: { search: MessageSearch }) {
  const { online } = useApp();
  const state = search.state.value;
  if (state === 'failed') {
    return (
      <p class="notice" role="alert">
        {online.value ? 'The search failed.' : 'You are offline.'}{' '}
        <button type="button" class="button small" onClick={() => search.resume()}>
          Try again
        </button>
      </p>
    );
  }
  if (state !== 'stopped') return null;
  return (
    <button type="button" class="button" onClick={() => search.resume()}>
      Search on
    </button>
  );
}

const results = () => [...document.querySelectorAll<HTMLElement>('.search-results a')];

function focusFirst(): boolean {
  const [first] = results();
  first?.focus();
  return first !== undefined;
}

// Arrow keys move between the results.
function move(event: KeyboardEvent): void {
  const links = results();
  const at = links.indexOf(document.activeElement as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
  if (to === undefined || at < 0) return;
  event.preventDefault();
  if (to < 0) document.querySelector<HTMLElement>('.search-field input')?.focus();
  else links[Math.min(to, links.length - 1)]?.focus();
}
