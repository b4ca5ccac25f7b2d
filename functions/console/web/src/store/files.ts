// The files that the user has added to a question. They are kept in memory until it is sent, and
// uploaded then: one that is removed before leaves nothing behind.

import { computed, signal } from '@preact/signals-core';
import { uid } from '../api/client';
import type { ArtifactVersion } from '../api/types';
import { LARGEST, nameFor } from './artifacts';

export interface DraftFile {
  id: string;
  file: File;
  /** Its name as an artifact, which no other file of the question has. */
  name: string;
  status: 'waiting' | 'uploading' | 'stored' | 'failed';
  /** Why it failed. */
  error: string;
  /** Where it is stored, if it is. */
  stored?: { session: string; version: ArtifactVersion };
}

/** The most files of a question. */
const MOST = 10;

export class DraftFiles {
  readonly list = signal<readonly DraftFile[]>([]);
  readonly uploading = computed(() => this.list.value.some((f) => f.status === 'uploading'));

  /** Returns why some files were not added; '' if all were. */
  add(files: Iterable<File>): string {
    const reasons: string[] = [];
    for (const file of files) {
      const { length } = this.list.value;
      if (file.size > LARGEST) reasons.push(`“${file.name}” is larger than 10 MB.`);
      else if (length >= MOST) return `A question can have ${MOST} files.`;
      else this.list.value = [...this.list.value, this.#drafted(file)];
    }
    return reasons.join(' ');
  }

  remove(id: string): void {
    this.list.value = this.list.value.filter((file) => file.id !== id);
  }

  change(id: string, change: Partial<DraftFile>): void {
    this.list.value = this.list.value.map((f) => (f.id === id ? { ...f, ...change } : f));
  }

  #drafted(file: File): DraftFile {
    const taken = new Set(this.list.value.map(({ name }) => name));
    const name = unique(nameFor(file.name || 'file', false), taken);
    return { id: uid(), file, name, status: 'waiting', error: '' };
  }
}

/** The files of each chat, by the session's id; of the next new chat by ''. */
export class FilesOfChats {
  readonly #chats = new Map<string, DraftFiles>();

  of(session: string): DraftFiles {
    const files = this.#chats.get(session) ?? new DraftFiles();
    this.#chats.set(session, files);
    return files;
  }

  /** Gives the files of the next new chat to the session that was created for it. */
  move(session: string): void {
    const { list } = this.of('');
    this.of(session).list.value = list.value;
    list.value = [];
  }

  clear(): void {
    for (const { list } of this.#chats.values()) list.value = [];
  }
}

/** plan.pdf, plan (2).pdf, … */
export function unique(name: string, taken: ReadonlySet<string>): string {
  const [, base = name, ending = ''] = /^(.+?)(\.\w{1,10})?$/.exec(name) ?? [];
  let free = name;
  for (let n = 2; taken.has(free); n++) free = nameFor(`${base} (${n})${ending}`, false);
  return free;
}
