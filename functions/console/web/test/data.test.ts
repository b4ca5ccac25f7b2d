import { File as NodeFile } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import { Exporting } from '../src/store/data/export';
import { Importing } from '../src/store/data/import';
import { NotInParts, partsOf } from '../src/store/data/parts';
import { NotJson, piecesOf } from '../src/store/data/scan';
import { fileNameOf, type Open, pickFile, pickFolder } from '../src/store/data/sink';
import { retentionOf } from '../src/ui/session/retention';
import { FakeServer, session } from './fakes';

async function* chunks(text: string, size: number) {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
}

describe('the pieces of a document', () => {
  const text =
    '\ufeff { "a" : "x\\"}]," , "list":[ {"b":"]\\\\"} , [1,2],"s", 3 ,null],"n":-1.5e3,"o":{"list":[{}]},\n"empty":[],"t":true}';
  const expected = [
    'a ="x\\"}],"',
    'list +{"b":"]\\\\"}',
    'list +[1,2]',
    'list +"s"',
    'list +3',
    'list +null',
    'n =-1.5e3',
    'o ={"list":[{}]}',
    't =true',
  ];

  test('are the same, however the document arrives', async () => {
    for (let size = 1; size <= text.length; size++) {
      const pieces = await all(piecesOf(chunks(text, size), new Set(['list', 'empty'])));
      const found = pieces.map(
        ({ member, entry, text }) => `${member} ${entry ? '+' : '='}${text}`,
      );
      expect(found, `${size} characters at a time`).toEqual(expected);
      for (const piece of pieces) JSON.parse(piece.text);
    }
  });

  test.each([
    '',
    '[]',
    '{',
    '{"a"',
    '{"a":1',
    '{"a":[1',
    '{"a":"x',
    '{a:1}',
    '{"a":,}',
    '{} x',
    '{"a" 1}',
  ])('of %s are refused', async (text) => {
    await expect(all(piecesOf(chunks(text, 3), new Set(['a'])))).rejects.toThrow(NotJson);
  });
});

const event = (seq: number, more = {}) => ({ id: `e${seq}`, seq, text: 'ü'.repeat(50), ...more });
const archive = {
  format: 'rethread.session/1',
  exported_time: 1,
  session: { id: 's' },
  timeline: [{ from: 1 }],
  events: [1, 2, 3, 4, 5, 6].map((seq) => event(seq, seq === 4 ? { _log: { joins: true } } : {})),
  tasks: [{ task_id: 't' }],
  feedback: [],
  artifacts: [{ name: 'a', data: 'A'.repeat(2000) }],
  requests: [{ run_id: 'r', number: 1 }],
  runs: [{ id: 'r' }],
  state: { session: {} },
  complete: true,
};
const fileOf = (content: unknown, name = 'a.json') =>
  // jsdom's files cannot be read as streams
  new NodeFile(
    [typeof content === 'string' ? content : JSON.stringify(content)],
    name,
  ) as unknown as File;

describe('the parts of a document', () => {
  test('have everything in order, and cut no events that were stored together', async () => {
    const parts = await all(partsOf(fileOf(archive), 400));
    expect(parts.length).toBeGreaterThan(3);
    const joined: Record<string, unknown> = {};
    for (const part of parts) {
      expect(part.format).toBe(archive.format);
      for (const [name, value] of Object.entries(part)) {
        joined[name] = Array.isArray(value) ? [...((joined[name] as []) ?? []), ...value] : value;
      }
    }
    const { exported_time: _, runs: __, feedback: ___, ...rest } = archive;
    expect(joined).toEqual(rest);
    expect(Object.keys(parts[0] ?? {})).toContain('timeline');
    expect(parts.filter((part) => 'state' in part || 'complete' in part)).toHaveLength(1);
    expect(parts.at(-1)).toMatchObject({ state: archive.state, complete: true });
    const firsts = parts.map(({ events }) => (events as { seq: number }[] | undefined)?.[0]?.seq);
    expect(firsts).not.toContain(4);
    for (const part of parts.slice(0, -1)) {
      const large = JSON.stringify(part).includes('AAAA') || JSON.stringify(part).includes('joins');
      if (!large) expect(new TextEncoder().encode(JSON.stringify(part)).length).toBeLessThan(600);
    }
  });

  test('of an incomplete document are refused at its end', async () => {
    const { complete: _, ...cut } = archive;
    await expect(all(partsOf(fileOf(cut), 400))).rejects.toThrow('incomplete');
    const text = JSON.stringify(archive);
    await expect(all(partsOf(fileOf(text.slice(0, -30)), 400))).rejects.toThrow('incomplete');
  });

  test('of other forms do not exist', async () => {
    await expect(all(partsOf(fileOf({ events: [{}], id: 'x' }), 400))).rejects.toThrow(NotInParts);
    const late = { format: 'f', events: [{}], timeline: [], complete: true };
    await expect(all(partsOf(fileOf(late), 400))).rejects.toThrow(NotInParts);
  });
});

describe('an import', () => {
  const done = { ...session('s'), name: 'Trip' };
  const large = {
    ...archive,
    artifacts: [1, 2].map((n) => ({ name: `${n}`, data: 'A'.repeat(3e6) })),
  };

  test('in parts goes on where it stopped', async () => {
    const server = new FakeServer();
    let broken = true;
    server.answer = ({ path }) => {
      if (path.endsWith('/parts/2') && broken) return [422, { detail: 'no', errors: [] }];
      const next = path.endsWith('/import') ? 2 : 3;
      if (next === 3) return [201, { data: done, meta: { kept: ['user:x'] } }];
      return [202, { data: { import_id: 'i', session_id: 's', next_part: next, expires_time: 1 } }];
    };
    const one = new Importing(server.api, fileOf(large), false);
    await one.run();
    expect([one.state.value, one.failed.value]).toEqual(['failed', 'no']);
    broken = false;
    const before = server.asked.length;
    await one.run();
    expect([one.state.value, one.session.value?.id, one.kept.value]).toEqual([
      'done',
      's',
      ['user:x'],
    ]);
    expect(server.asked.slice(before).map(({ path }) => path)).toEqual([
      '/sessions/import/i/parts/2',
    ]);
  });

  test('is removed when it is cancelled', async () => {
    const server = new FakeServer();
    let reached = () => {};
    const sending = new Promise<void>((resolve) => {
      reached = resolve;
    });
    server.answer = ({ method, path }) => {
      if (method === 'DELETE') return [204];
      if (path.endsWith('/import')) {
        return [202, { data: { import_id: 'i', session_id: 's', next_part: 2, expires_time: 1 } }];
      }
      reached();
      return new Promise(() => {});
    };
    const one = new Importing(server.api, fileOf(large), false);
    const run = one.run();
    await sending;
    await one.cancel();
    await run;
    expect(one.state.value).toBe('cancelled');
    expect(server.asked.at(-1)).toMatchObject({ method: 'DELETE', path: '/sessions/import/i' });
  });

  test('of a session that exists is made as a copy', async () => {
    const server = new FakeServer();
    server.answer = ({ query }) =>
      query.id ? [201, { data: done }] : [409, { detail: 'the session exists' }];
    const one = new Importing(server.api, fileOf(archive), false);
    await one.run();
    expect([one.state.value, one.taken.value]).toEqual(['failed', true]);
    await one.copy();
    expect([one.state.value, one.taken.value]).toEqual(['done', false]);
    const keys = server.asked.map(({ headers }) => headers.get('Idempotency-Key'));
    expect(keys[0]).not.toBe(keys[1]);
  });
});

describe('an export', () => {
  /** Keeps the files that are closed. */
  function folder() {
    const files: Record<string, string> = {};
    const open: Open = async (name) => {
      let text = '';
      return {
        write: async (chunk) => {
          text += new TextDecoder().decode(chunk);
        },
        close: async () => {
          files[name] = text;
        },
        abort: async () => {},
      };
    };
    return { files, open };
  }

  test('writes complete documents, and names those that are not', async () => {
    const server = new FakeServer();
    server.answer = ({ path }) => {
      if (path === '/sessions') {
        const data = ['a', 'b', 'c'].map((id) => ({ ...session(id), name: 'Same' }));
        return [200, { data, meta: { next_cursor: null } }];
      }
      if (path.includes('/b/')) return [409, { detail: 'a run is in progress' }];
      return [200, path.includes('/c/') ? { events: [] } : { events: [], complete: true }];
    };
    const { files, open } = folder();
    const exporting = new Exporting(server.api);
    await exporting.start(open);
    expect(files).toEqual({ 'Same (a).json': '{"events":[],"complete":true}' });
    expect(exporting.failed.value.map(({ session: { id }, reason }) => `${id}: ${reason}`)).toEqual(
      ['b: a run is in progress', 'c: It changes while it is exported.'],
    );
    expect(server.asked.filter(({ path }) => path.includes('/c/'))).toHaveLength(3);
    expect([exporting.running.value, exporting.done.value, exporting.stopped.value]).toEqual([
      false,
      1,
      '',
    ]);
  });

  test('ends where nothing can be written', async () => {
    const server = new FakeServer();
    server.answer = () => [200, { complete: true }];
    const exporting = new Exporting(server.api);
    await exporting.start(async () => {
      throw new DOMException('The disk is full.', 'QuotaExceededError');
    }, [session('a'), session('b')]);
    expect(exporting.stopped.value).toContain('The disk is full.');
    expect(server.asked).toHaveLength(1);
  });

  test('that the user does not give a place is none', async () => {
    const cancel = async () => {
      throw new DOMException('', 'AbortError');
    };
    expect(await pickFolder({ showDirectoryPicker: cancel })).toBe(null);
    expect(await pickFile('a', { showSaveFilePicker: cancel })).toBe(null);
  });
});

test('file names have nothing that a file system refuses, and are different', () => {
  const taken = new Set<string>();
  const name = (id: string, name: string) => fileNameOf({ id, name }, taken);
  expect(name('a', 'To/from: "Lisbon"')).toBe('To_from_ _Lisbon_ (a).json');
  expect(name('x:y', '')).toBe('x_y.json');
  expect(name('x_y', '..')).toBe('x_y 2.json');
  expect(name('X_Y', '')).toBe('X_Y 3.json');
  expect(Array.from(name('b', '🎈'.repeat(200))).length).toBeLessThan(100);
});

test('a period of retention is chosen, removed or left', () => {
  const form = (fields: Record<string, string>) => {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) data.set(name, value);
    return retentionOf(data);
  };
  expect(form({ keep: 'same' })).toBe(undefined);
  expect(form({ keep: 'default' })).toBe(null);
  expect(form({ keep: 'own', period: '2', unit: '3600' })).toBe(7200);
});
