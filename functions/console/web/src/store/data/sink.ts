// Where exported documents go: files that the user has chosen, written while they arrive, or where the
// browser has no such files, downloads that it keeps until they are complete.

import { download } from '../../ui/artifact/download';

export interface Sink {
  write(chunk: Uint8Array): Promise<void>;
  /** Keeps what was written. */
  close(): Promise<void>;
  /** Drops what was written. */
  abort(): Promise<void>;
}

/** Opens a file by its name. */
export type Open = (name: string) => Promise<Sink>;

type Pickers = Partial<{
  showDirectoryPicker(options: {
    mode: 'readwrite';
    id: string;
  }): Promise<FileSystemDirectoryHandle>;
  showSaveFilePicker(options: { suggestedName: string; id: string }): Promise<FileSystemFileHandle>;
}>;

const ID = 'rethread-exports'; // the browser remembers the folder under it

/** Asks for a folder. Must be called by a click. Null if the user chooses none. */
export async function pickFolder(page: Pickers = globalThis as Pickers): Promise<Open | null> {
  if (!page.showDirectoryPicker) return intoDownload;
  const folder = await unlessCancelled(page.showDirectoryPicker({ mode: 'readwrite', id: ID }));
  if (!folder) return null;
  return async (name) => intoFile(await folder.getFileHandle(name, { create: true }), folder);
}

/** Asks for a file. Must be called by a click. Null if the user chooses none. */
export async function pickFile(
  name: string,
  page: Pickers = globalThis as Pickers,
): Promise<Open | null> {
  if (!page.showSaveFilePicker) return intoDownload;
  const file = await unlessCancelled(page.showSaveFilePicker({ suggestedName: name, id: ID }));
  return file && (() => intoFile(file));
}

async function unlessCancelled<T>(picked: Promise<T>): Promise<T | null> {
  try {
    return await picked;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return null;
    throw error;
  }
}

// The browser writes to a copy, which replaces the file when it is closed.
async function intoFile(
  file: FileSystemFileHandle,
  folder?: FileSystemDirectoryHandle,
): Promise<Sink> {
  const { size } = await file.getFile();
  const stream = await file.createWritable();
  return {
    write: (chunk) => stream.write(chunk as Uint8Array<ArrayBuffer>),
    close: () => stream.close(),
    abort: async () => {
      await stream.abort().catch(() => {}); // it may have failed before
      if (size === 0) await folder?.removeEntry(file.name); // it was made for this export
    },
  };
}

async function intoDownload(name: string): Promise<Sink> {
  let parts: BlobPart[] = [];
  return {
    write: async (chunk) => {
      parts.push(chunk as Uint8Array<ArrayBuffer>);
      if (parts.length >= 64) parts = [new Blob(parts)]; // which the browser may keep on disk
    },
    close: async () => download(new Blob(parts), name),
    abort: async () => {
      parts = [];
    },
  };
}

const LONGEST_NAME = 80; // characters

/** A file name for a session, unlike the names that are taken. */
export function fileNameOf(
  { id, name }: { id: string; name: string },
  taken?: Set<string>,
): string {
  const title = Array.from(plain(name)).slice(0, LONGEST_NAME).join('').trim();
  const base = title ? `${title} (${plain(id)})` : plain(id);
  let file = `${base}.json`;
  for (let n = 2; taken?.has(file.toLowerCase()); n++) file = `${base} ${n}.json`;
  taken?.add(file.toLowerCase());
  return file;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: file systems refuse them
const UNUSABLE = /[\\/:*?"<>|\u0000-\u001f\u007f~%]/g;

const plain = (text: string): string => text.replace(UNUSABLE, '_').replace(/^[. ]+|[. ]+$/g, '');
