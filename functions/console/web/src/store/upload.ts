// Uploads the files of a question, and names them in its event. Loaded with the first question that
// has files.

import type { Api } from '../api/client';
import { errorText } from '../api/error';
import type { ArtifactVersion, InputEvent } from '../api/types';
import type { DraftFile, DraftFiles } from './files';

// A file that an agent can be sent is also part of the question itself: models have no access to
// artifacts. A larger one is only named.
const INLINE = /^(image\/(png|jpeg|gif|webp)|text\/[\w.+-]+|application\/(json|pdf))$/;
const LARGEST_INLINE = 512 << 10; // bytes
const LARGEST_TOTAL = 1 << 20;

interface Stored {
  file: File;
  version: ArtifactVersion;
}

/**
 * Uploads those files that are not stored yet. One that fails does not keep the others from being
 * stored, but rejects, so that the question is not sent without it.
 */
export async function upload(api: Api, session: string, files: DraftFiles): Promise<Stored[]> {
  const stored: Stored[] = [];
  const failed: string[] = [];
  for (const draft of files.list.peek()) {
    try {
      stored.push({ file: draft.file, version: await store(api, session, files, draft) });
    } catch (error) {
      files.change(draft.id, { status: 'failed', error: errorText(error) });
      failed.push(`“${draft.name}” could not be uploaded: ${errorText(error)}`);
    }
  }
  if (failed.length > 0) throw new Error(failed.join('\n'));
  return stored;
}

async function store(
  api: Api,
  session: string,
  files: DraftFiles,
  { id, file, name, stored }: DraftFile,
): Promise<ArtifactVersion> {
  if (stored?.session === session) return stored.version;
  files.change(id, { status: 'uploading', error: '' });
  const type = file.type || 'application/octet-stream';
  // Named by the event of the question, not by one of its own
  const version = await api.artifacts.put(session, name, { content: file, type });
  files.change(id, { status: 'stored', stored: { session, version } });
  return version;
}

/** The question with its files. */
export async function questionOf(
  session: string,
  text: string,
  files: readonly Stored[],
): Promise<InputEvent> {
  const parts: unknown[] = text ? [{ text }] : [];
  let total = 0;
  for (const { file, version } of files) {
    const fits = file.size <= LARGEST_INLINE && total + file.size <= LARGEST_TOTAL;
    const inline = fits && INLINE.test(version.mime_type.split(';')[0] ?? '');
    if (inline) total += file.size;
    parts.push(inline ? await inlinePart(file, version) : namedPart(session, version));
  }
  const artifact_delta = Object.fromEntries(files.map(({ version: v }) => [v.name, v.version]));
  return { author: 'user', content: { role: 'user', parts }, actions: { artifact_delta } };
}

async function inlinePart(file: File, { name, mime_type }: ArtifactVersion): Promise<unknown> {
  return { inline_data: { mime_type, display_name: name, data: await base64(file) } };
}

function namedPart(session: string, { name, version, mime_type }: ArtifactVersion): unknown {
  const path = [session, name, String(version)].map(encodeURIComponent).join('/');
  const file_uri = `artifact://session/${path}`;
  return { file_data: { mime_type, display_name: name, file_uri } };
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error('The file cannot be read.'));
    reader.readAsDataURL(file);
  });
}
