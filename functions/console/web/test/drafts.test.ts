import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Drafts } from '../src/store/drafts';

beforeEach(() => sessionStorage.clear());

describe('drafts', () => {
  test('are kept for each chat, also across a reload', () => {
    const before = new Drafts(() => 'alice');
    before.of('a').value = 'half a thought';
    before.of('b').value = 'another';
    before.of('').value = 'a new one';
    expect(before.of('a').value).toBe('half a thought');
    const after = new Drafts(() => 'alice');
    expect(['a', 'b', '', 'c'].map((id) => after.of(id).value)).toEqual([
      'half a thought',
      'another',
      'a new one',
      '',
    ]);
  });

  test('of other users are not shown', () => {
    new Drafts(() => 'alice').of('').value = 'a secret';
    let user = 'bob';
    const drafts = new Drafts(() => user);
    expect(drafts.of('').value).toBe('');
    user = 'alice';
    expect(drafts.of('').value).toBe('a secret');
  });

  test('that were sent or cleared leave nothing behind', () => {
    const drafts = new Drafts(() => 'alice');
    drafts.of('a').value = 'half a thought';
    drafts.of('b').value = 'another';
    drafts.of('a').value = '';
    expect(sessionStorage.length).toBe(1);
    drafts.clear();
    expect(drafts.of('b').value).toBe('');
    expect(sessionStorage.length).toBe(0);
  });

  test('are kept in the page when the storage is full', () => {
    const storage = {
      getItem: () => null,
      setItem: vi.fn(full),
      removeItem: () => {},
    } as unknown as Storage;
    const drafts = new Drafts(() => 'alice', storage);
    drafts.of('a').value = 'half a thought';
    expect(storage.setItem).toHaveBeenCalledOnce();
    expect(drafts.of('a').value).toBe('half a thought');
  });
});

function full(): never {
  throw new DOMException('full', 'QuotaExceededError');
}
