// One open chat: a live session, and the actions of the user.

import { computed, type Signal, signal } from '@preact/signals-core';
import type { WatchedSession } from 'rethread';
import { cancelRun } from '../api/runs';
import type { Event, InputEvent, Session } from '../api/types';
import { agentOf } from './agents';
import { Answers } from './answers';
import type { AskOptions, Begun } from './asked';
import { Asking } from './asking';
import type { Edit } from './drafts';
import { Feedback } from './feedback';
import type { DraftFiles } from './files';
import { type LiveDeps, LiveSession } from './live';
import { isQuestion, type Message, Messages } from './message';
import { type Question, questionsOf } from './questions';
import { Queue } from './queue';
import { Revision } from './revision';
import { Steady } from './steady';
import type { Toasts } from './toasts';
import { Trouble } from './trouble';
import { type Row, type Turn, turnsOf } from './turns';
import { Undo } from './undo';
import type { Variants } from './variants';

export interface ChatDeps extends LiveDeps {
  toasts: Toasts;
  /** What the user is writing. */
  draft: Signal<string>;
  /** The question that the user is editing. */
  edit: Edit;
  /** The files that will be sent with it. */
  files: DraftFiles;
}

const NONE: Question[] = [];

export class Chat extends LiveSession<ChatDeps> {
  readonly draft: Signal<string>;
  readonly files: DraftFiles;
  readonly cancelling = signal(false);
  /** Why a question could not be asked, or an answer not be stopped. */
  readonly trouble = new Trouble();
  /** The questions that wait until the answers before them are complete. */
  readonly queue: Queue;
  /** The agent of the next questions; '' for the session's own. */
  readonly agent: Signal<string>;
  readonly #asking: Asking;
  /** The run as shown: one that was just started is already in progress. */
  readonly state = computed(() => this.#asking.state.value);
  readonly #messages = new Messages();
  readonly messages = computed(() => this.#messages.of(this.#asking.items.value));
  readonly #steady = new Steady();
  readonly turns = computed<readonly Turn[]>(() =>
    this.#steady.turns(turnsOf(this.messages.value, this.state.value, this.older.more.value)),
  );
  readonly rows = computed(() => this.#steady.rows(this.turns.value));
  /** Which rows there are. A row that changes is taken from `row`, so that it is rendered alone. */
  readonly layout = computed(() => this.#steady.layout(this.rows.value));
  readonly #byKey = computed(() => new Map(this.rows.value.map((row) => [row.key, row])));
  /** The newest invocation; '' without messages. */
  readonly newest = computed(() => this.turns.value.at(-1)?.invocation ?? '');
  /** The invocation with which the chat begins; '' while that is not loaded. */
  readonly first = computed(() => {
    const [turn] = this.turns.value;
    return turn?.first ? turn.invocation : '';
  });
  /** Whether a question is being sent. */
  readonly sending = computed(() => this.#asking.sending.value);
  readonly running = computed(() => this.state.value.status === 'in_progress');
  /** Whether the next question will be queued. A failed run keeps no question from being first. */
  readonly queues = computed(
    () =>
      this.running.value ||
      (this.queue.list.value.length > 0 && this.state.value.status !== 'failed'),
  );
  readonly feedback: Feedback;
  readonly undo: Undo;
  readonly revision: Revision;
  /** The variants of its questions; null until they are loaded, or while there are none. */
  readonly variants = signal<Variants | null>(null);
  /** What the agent has asked, for those who may answer. */
  readonly questions = computed(() =>
    this.rights.value.write && !this.#asking.pending.value && !this.running.value
      ? questionsOf(this.turns.value.at(-1)).filter((one) => this.answers.isOpen(one))
      : NONE,
  );
  readonly answers: Answers;

  constructor(id: string, deps: ChatDeps) {
    super(id, deps);
    const { api, toasts } = deps;
    this.draft = deps.draft;
    this.files = deps.files;
    this.agent = agentOf(id);
    this.queue = new Queue(id, api, this.trouble);
    this.#asking = new Asking(this, { api, trouble: this.trouble });
    this.feedback = new Feedback(this, api, toasts);
    this.answers = new Answers(this, api);
    const changed = (session: Session) => this.changed(session);
    this.undo = new Undo(id, { api, toasts, changed });
    this.revision = new Revision(this, { api, toasts, changed, undo: this.undo, edit: deps.edit });
    this.follow();
  }

  /** Invocations whose runs this tab has started. */
  get started(): ReadonlySet<string> {
    return this.#asking.started;
  }

  override close(): void {
    super.close();
    this.feedback.close();
  }

  /** A row as it is now; undefined if there is none with this key. */
  row(key: string): Row | undefined {
    return this.#byKey.value.get(key);
  }

  /** A turn with all of its messages, as far as they can be loaded. */
  async whole(turn: Turn): Promise<Turn> {
    const { invocation } = turn;
    const now = () => this.turns.value.find((other) => other.invocation === invocation) ?? turn;
    if (turn.cut) await this.older.until(() => !now().cut);
    return now();
  }

  /**
   * Sends a question with the files that were added to it. Returns whether that succeeded; otherwise
   * the page says why beside the field.
   */
  async send(text: string): Promise<boolean> {
    const files = this.files.list.peek();
    const names = files.map(({ name }) => ({ file_data: { display_name: name } }));
    const parts = [...(text ? [{ text }] : []), ...names];
    const input = [{ author: 'user', content: { role: 'user', parts } }];
    const complete = files.length > 0 ? () => this.#upload(text) : undefined;
    const sent = (await this.ask(input, { complete })) !== null;
    if (sent) for (const { id } of files) this.files.remove(id);
    return sent;
  }

  /** Opens a question for editing, by default the newest. Returns whether there is one. */
  edit(invocation?: string): boolean {
    const asked = (message: Message) =>
      isQuestion(message) && (invocation ?? message.invocation) === message.invocation;
    const question = this.messages.peek().findLast(asked);
    if (!question || !this.rights.peek().write) return false;
    this.revision.edit(question);
    return true;
  }

  async cancel(): Promise<void> {
    const { status, run } = this.state.value;
    if (status !== 'in_progress' || this.cancelling.value) return;
    this.cancelling.value = true;
    try {
      await cancelRun(this.deps.api, this.id, run);
    } catch (error) {
      this.trouble.fail(error);
    } finally {
      this.cancelling.value = false;
    }
  }

  async #upload(text: string): Promise<InputEvent> {
    const { upload, questionOf } = await import('./upload');
    return questionOf(this.id, text, await upload(this.deps.api, this.id, this.files));
  }

  /**
   * Sends a question, or one that replaces others. Returns its run, which may be queued; null if that
   * failed, which the page says beside the field.
   */
  ask(input: InputEvent[], options?: AskOptions): Promise<Begun | null> {
    return this.#asking.ask(input, options);
  }

  protected shown(shown: WatchedSession<Event>): void {
    this.revision.keep(shown.items, shown.has_older);
    this.queue.take(shown);
    this.#asking.knows(shown.status_seq);
  }
}
