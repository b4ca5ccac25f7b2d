// The artifacts of a session, their versions, and what is in them.

import { effect, signal, untracked } from '@preact/signals-core';
import {
  deleteArtifact,
  listArtifacts,
  listVersions,
  putArtifact,
  readArtifact,
} from '../api/artifacts';
import { type Api, uid } from '../api/client';
import type { ArtifactVersion, Event } from '../api/types';

/** The most bytes that a version may have. */
export const LARGEST = 10 << 20;

const KEPT = 20; // contents; a version never changes

/** What is needed to know of a chat: its events say when there is something new. */
interface Shown {
  id: string;
  items: { value: readonly Event[] };
  epoch: { value: number };
}

export class Artifacts {
  /** The newest version of each; null until they were read. */
  readonly list = signal<readonly ArtifactVersion[] | null>(null);
  /** Counts how often the conversation told of new versions. */
  readonly news = signal(0);

  readonly #api: Api;
  readonly #chat: Shown;
  readonly #contents = new Map<string, Promise<Blob>>();
  #asked = 0;

  constructor(api: Api, chat: Shown) {
    this.#api = api;
    this.#chat = chat;
  }

  /** Follows the conversation until the function that comes back is called. */
  follow(failed: (error: unknown) => void): () => void {
    let before = '';
    return effect(() => {
      const now = `${this.#chat.epoch.value} ${versionsNamed(this.#chat.items.value)}`;
      if (now === before) return;
      before = now;
      untracked(() => {
        this.news.value++;
        this.refresh().catch(failed);
      });
    });
  }

  async refresh(): Promise<void> {
    const asked = ++this.#asked;
    const list = await listArtifacts(this.#api, this.#chat.id);
    if (asked === this.#asked) this.list.value = list;
  }

  /** The versions of one, newest first. */
  async versions(name: string): Promise<ArtifactVersion[]> {
    return (await listVersions(this.#api, this.#chat.id, name)).reverse();
  }

  /** The bytes of a version. */
  read(name: string, version: number): Promise<Blob> {
    const key = `${version} ${name}`;
    const known = this.#contents.get(key);
    if (known) return known;
    const asked = readArtifact(this.#api, this.#chat.id, name, version);
    asked.catch(() => this.#contents.delete(key)); // the next one asks again
    this.#contents.set(key, asked);
    for (const old of this.#contents.keys()) {
      if (this.#contents.size <= KEPT) break;
      this.#contents.delete(old);
    }
    return asked;
  }

  /** Puts a file. It becomes part of the conversation: rewinds and forks take it into account. */
  async upload(file: File, shared: boolean): Promise<ArtifactVersion> {
    if (file.size > LARGEST) throw new Error(`“${file.name}” has more than 10 MB.`);
    const name = nameFor(file.name, shared);
    const version = await putArtifact(this.#api, this.#chat.id, name, file, uid());
    await this.refresh();
    return version;
  }

  async remove(name: string): Promise<void> {
    await deleteArtifact(this.#api, this.#chat.id, name);
    await this.refresh();
  }
}

const SHARED = 'user:';
const LONGEST = 128; // characters

/** The name that a file is kept under. */
export function nameFor(file: string, shared: boolean): string {
  const prefix = shared ? SHARED : '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names may not hold any
  const clean = file.replace(/[/\x00-\x1f\x7f-\x9f]/g, '_').replace(/^\.{1,2}$/, '_');
  // A file of one session that is called so must not land in all of them.
  const own = shared || !clean.startsWith(SHARED) ? clean : clean.replace(':', '_');
  return (
    prefix +
    Array.from(own)
      .slice(-(LONGEST - prefix.length))
      .join('')
  );
}

/** A name as people read it, and whether all of the user's sessions share what it names. */
export function readable(name: string): { label: string; shared: boolean } {
  const shared = name.startsWith(SHARED);
  return { label: shared ? name.slice(SHARED.length) : name, shared };
}

/** The number of the version that a rewind has restored, where this one is its reference. */
export function restoredFrom({ reference }: ArtifactVersion): string {
  return /^artifact:\/\/.*\/(\d+)$/.exec(reference ?? '')?.[1] ?? '';
}

function versionsNamed(events: readonly Event[]): string {
  return events
    .flatMap(({ actions }) => Object.entries(actions?.artifact_delta ?? {}))
    .map(([name, version]) => `${name} ${version}`)
    .join('\n');
}
