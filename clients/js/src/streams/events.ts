// Server-sent events of a response.

import { ConnectionError } from '../http/errors.js';

const STALLED = 45_000; // milliseconds without a byte; the server sends a comment every 15 seconds

/**
 * Yields the events of a response, which are JSON, until its end. A connection that breaks or falls
 * silent is a ConnectionError. When the reader stops, the connection is closed.
 */
export async function* readEvents<E>(response: Response, signal: AbortSignal): AsyncGenerator<E> {
  const reader = response.body?.getReader();
  if (!reader) throw new ConnectionError(new Error('the response has no body'));
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await readOrStall(reader, signal);
      if (done) return;
      const lines = (text + decoder.decode(value, { stream: true })).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const data = line.startsWith('data:') ? line.slice(5).trim() : '';
        if (data && data !== '[DONE]') yield JSON.parse(data);
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // it may be broken already
  }
}

async function readOrStall(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  signal.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let abort = () => {};
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the stream stalled')), STALLED);
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([reader.read(), ended]);
  } catch (error) {
    throw signal.aborted ? signal.reason : new ConnectionError(error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
