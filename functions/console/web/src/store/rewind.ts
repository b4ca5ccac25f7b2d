// A rewind before it is executed: its preview and the user's choices. It is executed at most once.

import { batch, computed, effect, signal, untracked } from '@preact/signals-core';
import { ConflictError } from 'rethread';
import { listArtifacts } from '../api/artifacts';
import { type Api, uid } from '../api/client';
import { errorText } from '../api/error';
import { previewRewind, rewindSession } from '../api/rewind';
import { readState } from '../api/state';
import type { Rewound, Session } from '../api/types';
import type { Chat } from './chat';

/** The target of a rewind and how to describe it. */
export interface RewindTarget {
  /** rewind: hide what follows. return: restore something hidden. undo: undo a rewind. */
  kind: 'rewind' | 'return' | 'undo';
  /**
   * What the user has chosen: a question, to go back to before it and ask it again; an answer, which
   * stays; or the marker of a rewind.
   */
  from: 'question' | 'answer' | 'marker';
  /** The text of the question or answer. */
  text: string;
  /** The boundary: the first invocation to undo. */
  before: string;
  /** The time of the undone rewind. */
  time: number;
}

/** What a rewind would change, as it is now. */
export interface Now {
  /** Values by prefixed key. */
  state: Record<string, unknown>;
  /** The newest version of each artifact. */
  artifacts: ReadonlyMap<string, number>;
}

export interface RewindDeps {
  api: Api;
  /** Called when the session has changed. */
  changed: (session: Session) => void;
}

export class Rewinding {
  readonly target: RewindTarget;
  /** The effect of the rewind; null until the preview is loaded. */
  readonly preview = signal<(Rewound & { now: Now }) | null>(null);
  /** Shared keys that other sessions have changed since. */
  readonly conflicts = signal<readonly string[]>([]);
  readonly choice = signal<'keep' | 'restore'>('keep');
  /** Why the preview failed; '' otherwise. */
  readonly failed = signal('');
  /** Whether a run would be stopped. */
  readonly stops = computed(() => this.#chat.running.value);

  readonly #chat: Chat;
  readonly #deps: RewindDeps;
  #previews = 0;
  #key = uid();
  #going: Promise<Rewound> | null = null;
  /** The draft before and after the question was put into it. */
  #drafts = { before: '', after: '' };

  constructor(target: RewindTarget, chat: Chat, deps: RewindDeps) {
    this.target = target;
    this.#chat = chat;
    this.#deps = deps;
  }

  /** Loads the preview, again whenever the session changes, until the returned function is called. */
  start(): () => void {
    // A growing answer changes nothing: only its position in the log matters
    const news = computed(() => {
      const { epoch, items } = this.#chat;
      const { choice, stops } = this;
      return [choice.value, stops.value, epoch.value, items.value.at(-1)?.seq].join();
    });
    return effect(() => {
      news.value;
      untracked(() => void this.loadPreview());
    });
  }

  async loadPreview(): Promise<void> {
    const request = ++this.#previews;
    const conflicts = this.choice.value;
    this.failed.value = '';
    this.preview.value = null;
    try {
      const options = { before: this.target.before, conflicts };
      const preview = await previewRewind(this.#deps.api, this.#chat.id, options);
      const now = await this.#now(preview);
      if (request !== this.#previews) return;
      batch(() => {
        this.preview.value = { ...preview, now };
        // Keys to be restored are no longer listed as conflicts
        if (conflicts === 'keep') this.conflicts.value = preview.conflicts.map(({ key }) => key);
      });
      this.#key = uid();
    } catch (error) {
      if (request === this.#previews) this.failed.value = errorText(error);
    }
  }

  // Only what is restored is asked for.
  async #now({ restored }: Rewound): Promise<Now> {
    const [{ api }, { id }] = [this.#deps, this.#chat];
    const [state, artifacts] = await Promise.all([
      isEmpty(restored.state) ? {} : readState(api, id).then(({ merged }) => merged),
      isEmpty(restored.artifacts) ? [] : listArtifacts(api, id),
    ]);
    return {
      state: state as Record<string, unknown>,
      artifacts: new Map(artifacts.map(({ name, version }) => [name, version])),
    };
  }

  /** Rewinds once, however often it is called. On a conflict it throws and reloads the preview. */
  go(): Promise<Rewound> {
    this.#going ??= this.#go().finally(() => {
      this.#going = null;
    });
    return this.#going;
  }

  async #go(): Promise<Rewound> {
    const { before } = this.target;
    const options = { before, conflicts: this.choice.value, cancelRun: this.stops.value };
    try {
      const done = await rewindSession(this.#deps.api, this.#chat.id, options, this.#key);
      this.#done(done);
      return done;
    } catch (error) {
      if (error instanceof ConflictError) void this.loadPreview();
      throw error;
    }
  }

  #done(done: Rewound): void {
    this.#putQuestion();
    this.#chat.session.value = done.session;
    this.#deps.changed(done.session);
    const { invocation_id: marker, seq: since } = done.event;
    const step = { marker, since, own: new Set<string>(), conflicts: this.choice.value };
    const undone = () => this.#restoreDraft();
    this.#chat.undo.did(
      { ...step, undone },
      this.target.kind === 'rewind' ? 'Rewound.' : 'Restored.',
    );
  }

  // What the user was writing follows the question.
  #putQuestion(): void {
    const { from, text } = this.target;
    if (from !== 'question' || text === '') return;
    const { draft } = this.#chat;
    const before = draft.value;
    draft.value = before.trim() === '' ? text : `${text}\n\n${before}`;
    this.#drafts = { before, after: draft.value };
  }

  // Unless the user has changed it since.
  #restoreDraft(): void {
    const { before, after } = this.#drafts;
    if (this.#chat.draft.value === after) this.#chat.draft.value = before;
  }
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;
