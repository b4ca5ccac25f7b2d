// The state of the whole page.

import { batch, effect, signal, untracked } from '@preact/signals-core';
import { type Api, createApi } from '../api/client';
import { createSession } from '../api/sessions';
import { leaveSession } from '../api/shares';
import type { ListedSession, Session } from '../api/types';
import type { Auth } from '../auth/auth';
import type { Config } from '../config';
import { Agents } from './agents';
import { Chat } from './chat';
import { Drafts, keepText } from './drafts';
import { FilesOfChats } from './files';
import { KeyChoice } from './keys';
import { Pins } from './pins';
import { Sessions } from './sessions';
import { ThemeChoice } from './theme';
import { Toasts } from './toasts';
import { Trouble } from './trouble';
import { Unfolded } from './unfolded';

export class App {
  readonly config: Config;
  readonly auth: Auth;
  readonly api: Api;
  readonly toasts = new Toasts();
  /** Why a new chat could not be started. */
  readonly trouble = new Trouble();
  readonly themes = new ThemeChoice();
  readonly keys = new KeyChoice();
  readonly drafts: Drafts;
  readonly files = new FilesOfChats();
  readonly agents: Agents;
  /** The list of the user's own sessions; null while signed out. */
  readonly sessions = signal<Sessions | null>(null);
  /** The list of sessions that others share with the user; null while signed out. */
  readonly shared = signal<Sessions | null>(null);
  /** The sessions that the user keeps at the top of the list; null while signed out. */
  readonly pins = signal<Pins | null>(null);
  /** The chats whose forks are unfolded in the list. */
  readonly unfolded = new Unfolded();
  /** The open session. */
  readonly chat = signal<Chat | null>(null);
  readonly online = signal(navigator.onLine);

  constructor(config: Config, auth: Auth) {
    this.config = config;
    this.auth = auth;
    this.drafts = new Drafts(() => auth.user.peek()?.name ?? '');
    this.api = createApi(auth, config.watch_url, undefined, config.stream_url);
    this.agents = new Agents(this.api);
    for (const event of ['online', 'offline']) {
      addEventListener(event, () => {
        this.online.value = navigator.onLine;
      });
    }
    effect(() => {
      const signedIn = this.auth.user.value !== null;
      untracked(() => (signedIn ? this.#signedIn() : this.#signedOut()));
    });
    effect(() => {
      const { list } = this.shared.value ?? {};
      if (list?.value) untracked(() => this.#recheck(list.peek()));
    });
  }

  /**
   * Opens a session and closes the one that was open.
   *
   * @param far whether an item is looked for that may be far from the newest
   */
  open(id: string, far = false): Chat {
    const current = this.chat.value;
    if (current?.id === id && current.gone.value === 0) return current;
    current?.close();
    const { api, toasts } = this;
    const chat: Chat = new Chat(id, {
      api,
      toasts,
      known: this.#listed(id),
      far,
      draft: this.drafts.of(id),
      edit: this.drafts.edit(id),
      files: this.files.of(id),
      watch: api.watch.bind(api),
      changed: (session?: Session) => this.changed(chat, session),
    });
    this.chat.value = chat;
    return chat;
  }

  // A guest's right can change without a message: a share expires, or another one is added. The list
  // shows it.
  #recheck(list: readonly ListedSession[]): void {
    const [shared, chat] = [this.shared.peek(), this.chat.peek()];
    const access = chat?.session.peek()?.access;
    if (!shared?.loaded.peek() || !chat || !access || access === 'admin') return;
    const listed = list.find(({ id }) => id === chat.id);
    const missing = !listed && !shared.more.peek() && !shared.query.peek();
    if (missing || (listed && listed.access !== access)) void chat.read();
  }

  /** Gives up access to a session of another user. */
  async leave(id: string): Promise<void> {
    await leaveSession(this.api, id);
    if (this.chat.peek()?.id === id) this.close();
    this.drafts.forget(id);
    this.shared.peek()?.gone(id);
  }

  /** Pins a session to the top of the list, or unpins it. */
  async pin(id: string, pinned: boolean): Promise<void> {
    const session = await this.pins.peek()?.set(id, pinned);
    const chat = this.chat.peek();
    if (session && chat?.id === id) chat.session.value = session;
  }

  /** Notifies the list that has a chat's session of a change that it shows. */
  changed(chat: Chat, session?: Session): void {
    const list = chat.rights.peek().mine === false ? this.shared : this.sessions;
    list.peek()?.changed(session);
  }

  /** A session as one of the lists has it. */
  #listed(id: string): ListedSession | undefined {
    const lists = [this.sessions.peek(), this.shared.peek()];
    return lists.flatMap((list) => list?.list.peek() ?? []).find((session) => session.id === id);
  }

  close(): void {
    this.chat.value?.close();
    this.chat.value = null;
  }

  /** Starts a session with a question. Returns null if that failed, which the page says. */
  async begin(text: string): Promise<Chat | null> {
    this.trouble.clear();
    try {
      const [file] = this.files.of('').list.peek();
      const name = nameOf(text || (file?.name ?? ''));
      const agent = await this.agents.ofNewChat((told) => this.toasts.say(told));
      const session = await createSession(this.api, name, agent);
      this.files.move(session.id);
      const chat = this.open(session.id);
      chat.session.value = session;
      const next = this.drafts.of(''); // what was written while the chat was created
      keepText(chat.draft, next.peek());
      next.value = '';
      void chat.send(text).then((sent) => {
        if (!sent) keepText(chat.draft, text);
      });
      return chat;
    } catch (error) {
      this.trouble.fail(error);
      return null;
    }
  }

  signOut(): void {
    this.drafts.clear();
    this.files.clear();
    this.unfolded.clear();
    this.auth.signOut();
  }

  #signedIn(): void {
    if (this.sessions.value) return;
    const sessions = new Sessions(this.api);
    sessions.start();
    this.sessions.value = sessions;
    this.pins.value = new Pins(this.api, sessions);
    this.shared.value = new Sessions(this.api, 'shared'); // kept up to date while it is shown
  }

  #signedOut(): void {
    batch(() => {
      this.close();
      this.pins.value = null;
      for (const list of [this.sessions, this.shared]) {
        list.value?.stop();
        list.value = null;
      }
    });
  }
}

const LONGEST_NAME = 60;

/** The name of a session, derived from its first question; without the command that begins it. */
export function nameOf(question: string): string {
  const line = question
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/^\/[\w-]+ /, '');
  const letters = Array.from(line); // never half of a surrogate pair
  if (letters.length <= LONGEST_NAME) return line;
  const cut = letters.slice(0, LONGEST_NAME).join('');
  const word = cut.lastIndexOf(' ');
  return `${word > LONGEST_NAME / 2 ? cut.slice(0, word) : cut}…`;
}
