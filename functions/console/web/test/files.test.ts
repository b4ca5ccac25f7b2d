import { describe, expect, test, vi } from 'vitest';
import { DraftFiles, FilesOfChats, unique } from '../src/store/files';
import { FakeServer, fakeChat, session } from './fakes';

const file = (name: string, bytes = 'x', type = 'text/plain') => new File([bytes], name, { type });

const version = (name: string, mime_type = 'text/plain') => ({
  data: { name, version: 3, mime_type, size: 1, created_time: 1 },
});

/** A server that stores artifacts, except those that are refused, and starts runs. */
function storing(refused: ReadonlySet<string> = new Set()) {
  const server = new FakeServer();
  server.answer = ({ method, path }) => {
    const name = decodeURIComponent(/\/artifacts\/(.+)$/.exec(path)?.[1] ?? '');
    if (method === 'PUT' && refused.has(name)) return [413, { status: 413, detail: 'Too large.' }];
    if (method === 'PUT') return [201, version(name, name.endsWith('.bin') ? 'x/y' : undefined)];
    const thread = { session: session('s1'), status: 'in_progress', items: [], cursor: '' };
    return [202, { data: thread, meta: { next_cursor: null } }];
  };
  return server;
}

const questionsOf = (server: FakeServer) =>
  server.asked.filter(({ path }) => path.endsWith('/runs')).map(({ body }) => body);

const uploadsOf = (server: FakeServer) =>
  server.asked.filter(({ method }) => method === 'PUT').map(({ path }) => path);

describe('the files of a question', () => {
  test('have names of their own', () => {
    const files = new DraftFiles();
    files.add([file('a.png'), file('a.png'), file('a.png'), file('a/b')]);
    expect(files.list.value.map(({ name }) => name)).toEqual([
      'a.png',
      'a (2).png',
      'a (3).png',
      'a_b',
    ]);
    expect(unique('user', new Set(['user']))).toBe('user (2)');
  });

  test('that are too large or too many are refused, and the others kept', () => {
    const files = new DraftFiles();
    const large = file('large');
    Object.defineProperty(large, 'size', { value: 11 << 20 });
    expect(files.add([large, file('small')])).toBe('“large” is larger than 10 MB.');
    expect(files.list.value.map(({ name }) => name)).toEqual(['small']);
    expect(files.add(Array.from({ length: 10 }, (_, i) => file(`${i}`)))).toContain('10 files');
    expect(files.list.value).toHaveLength(10);
  });

  test('become artifacts that its event names, and small ones parts of it', async () => {
    const server = storing();
    const { chat } = fakeChat(server);
    chat.files.add([file('a.txt', 'hello'), file('b.bin', 'x', 'x/y')]);
    expect(await chat.send('Look')).toBe(true);
    expect(uploadsOf(server)).toEqual([
      '/sessions/s1/artifacts/a.txt',
      '/sessions/s1/artifacts/b.bin',
    ]);
    expect(questionsOf(server)).toMatchObject([
      {
        input: [
          {
            author: 'user',
            content: {
              role: 'user',
              parts: [
                { text: 'Look' },
                {
                  inline_data: { mime_type: 'text/plain', display_name: 'a.txt', data: 'aGVsbG8=' },
                },
                { file_data: { mime_type: 'x/y', file_uri: 'artifact://session/s1/b.bin/3' } },
              ],
            },
            actions: { artifact_delta: { 'a.txt': 3, 'b.bin': 3 } },
          },
        ],
      },
    ]);
    expect(chat.files.list.value).toEqual([]);
  });

  test('are shown by name while they are uploaded', async () => {
    const server = storing();
    const { answer } = server;
    let go = () => {};
    const arrived = new Promise<void>((resolve) => {
      go = resolve;
    });
    server.answer = (asked) => arrived.then(() => answer(asked));
    const { chat } = fakeChat(server);
    chat.files.add([file('a.txt')]);
    const sent = chat.send('');
    expect(chat.sending.value).toBe(true);
    expect(chat.messages.value.at(-1)?.blocks).toMatchObject([{ kind: 'file', name: 'a.txt' }]);
    await vi.waitFor(() => expect(chat.files.uploading.value).toBe(true));
    go();
    expect(await sent).toBe(true);
  });

  test('stay if one fails, and only that one is uploaded again', async () => {
    const refused = new Set(['b.txt']);
    const server = storing(refused);
    const { chat } = fakeChat(server);
    chat.files.add([file('a.txt'), file('b.txt'), file('c.txt')]);
    expect(await chat.send('Look')).toBe(false);
    expect(chat.files.list.value.map(({ status }) => status)).toEqual([
      'stored',
      'failed',
      'stored',
    ]);
    expect(chat.messages.value).toEqual([]);
    expect(chat.trouble.text.value).toContain('“b.txt” could not be uploaded: Too large.');
    expect(questionsOf(server)).toEqual([]);
    refused.clear();
    expect(await chat.send('Look')).toBe(true);
    expect(uploadsOf(server).map((path) => path.at(-5))).toEqual(['a', 'b', 'c', 'b']);
    expect(questionsOf(server)).toHaveLength(1);
  });

  test('of the next new chat move to its session', () => {
    const chats = new FilesOfChats();
    chats.of('').add([file('a')]);
    chats.of('other').add([file('b')]);
    chats.move('s1');
    expect(chats.of('').list.value).toEqual([]);
    expect(chats.of('s1').list.value.map(({ name }) => name)).toEqual(['a']);
    chats.clear();
    expect([chats.of('s1'), chats.of('other')].map(({ list }) => list.value)).toEqual([[], []]);
  });
});
