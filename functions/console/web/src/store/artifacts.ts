// The artifacts of a session, their versions and content.

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

/** Maximum size of a version in bytes. */
export const LARGEST = 10 << 20;

const KEPT = 20; // cached contents; a version never changes

/** The part of a chat that is needed here: its events name new versions. */
interface Shown {
  id: string;
  items: { value: readonly Event[] };
  epoch: { value: number };
}

export class Artifacts {
  /** The newest version of each; null until loaded. */
  readonly list = signal<readonly ArtifactVersion[] | null>(null);
  /** Increases whenever the conversation names new versions. */
  readonly revision = signal(0);

  readonly #api: Api;
  readonly #chat: Shown;
  readonly #contents = new Map<string, Promise<Blob>>();
  #asked = 0;

  constructor(api: Api, chat: Shown) {
    this.#api = api;
    this.#chat = chat;
  }

  /** Follows the conversation until the returned function is called. */
  follow(failed: (error: unknown) => void): () => void {
    let before = '';
    return effect(() => {
      const now = `${this.#chat.epoch.value} ${versionsNamed(this.#chat.items.value)}`;
      if (now === before) return;
      before = now;
      untracked(() => {
        this.revision.value++;
        this.refresh().catch(failed);
      });
    });
  }

  async refresh(): Promise<void> {
    const asked = ++this.#asked;
    const list = await listArtifacts(this.#api, this.#chat.id);
    if (asked === this.#asked) this.list.value = list;
  }

  /** The versions of an artifact, newest first. */
  async versions(name: string): Promise<ArtifactVersion[]> {
    return (await listVersions(this.#api, this.#chat.id, name)).reverse();
  }

  /** The bytes of a version. */
  read(name: string, version: number): Promise<Blob> {
    const key = `${version} ${name}`;
    const known = this.#contents.get(key);
    if (known) return known;
    const asked = readArtifact(this.#api, this.#chat.id, name, version);
    asked.catch(() => this.#contents.delete(key)); // the next call tries again
    this.#contents.set(key, asked);
    for (const old of this.#contents.keys()) {
      if (this.#contents.size <= KEPT) break;
      this.#contents.delete(old);
    }
    return asked;
  }

  /** Uploads a file. An event names it, so rewinds and forks include it. */
  async upload(file: File, shared: boolean): Promise<ArtifactVersion> {
    if (file.size > LARGEST) throw new Error(`“${file.name}” is larger than 10 MB.`);
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

/** The artifact name for a file. */
export function nameFor(file: string, shared: boolean): string {
  const prefix = shared ? SHARED : '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names must not contain any
  const clean = file.replace(/[/\x00-\x1f\x7f-\x9f]/g, '_').replace(/^\.{1,2}$/, '_');
  // A file of one session whose name starts like this must not become shared.
  const own = shared || !clean.startsWith(SHARED) ? clean : clean.replace(':', '_');
  return (
    prefix +
    Array.from(own)
      .slice(-(LONGEST - prefix.length))
      .join('')
  );
}

/** The display name of an artifact, and whether all of the user's sessions share it. */
export function readable(name: string): { label: string; shared: boolean } {
  const shared = name.startsWith(SHARED);
  return { label: shared ? name.slice(SHARED.length) : name, shared };
}

/** The version that a rewind restored as this one; null if it is not a restored version. */
export function restoredFrom({ reference }: ArtifactVersion): number | null {
  const version = /^artifact:\/\/.*\/(\d+)$/.exec(reference ?? '')?.[1];
  return version === undefined ? null : Number(version);
}

function versionsNamed(events: readonly Event[]): string {
  return events
    .flatMap(({ actions }) => Object.entries(actions?.artifact_delta ?? {}))
    .map(([name, version]) => `${name} ${version}`)
    .join('\n');
}

/** A version as people count: the API's first version is 0. */
export const versionName = (version: number): string => `version ${version + 1}`;
