// The packed npm package, in an app with React, Vite and strict TypeScript.

import type { Page } from '@playwright/test';
import { expectReadable } from '../support/copied.ts';
import { type Packed, startPacked } from '../support/packed.ts';
import { test as base, expect } from '../support/test.ts';

const test = base.extend<{ chat: Chat }, { packed: Packed }>({
  packed: [
    async ({}, use) => {
      const packed = await startPacked();
      await use(packed);
      await packed.stop();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  chat: async ({ page, packed, user }, use) => use(new Chat(page, packed.page, user)),
});
test.describe.configure({ mode: 'default' }); // one worker, and so one app

class Chat {
  readonly page: Page;
  readonly #url: string;
  readonly #user: string;

  constructor(page: Page, url: string, user: string) {
    this.page = page;
    this.#url = url;
    this.#user = user;
  }

  async begin(): Promise<void> {
    await this.page.goto(this.#url);
    await this.page.getByLabel('Name').fill(this.#user);
    await this.button('Sign in').click();
    await this.button('New chat').click();
    await expect(this.section).toHaveAttribute('data-connection', 'live');
  }

  async ask(text: string): Promise<void> {
    await this.page.getByLabel('Message').fill(text);
    await this.button('Send').click();
    await expect(this.said('user').last()).toHaveText(text);
  }

  button(name: string) {
    return this.page.getByRole('button', { name, exact: true });
  }

  get section() {
    return this.page.locator('section');
  }

  said(author: 'user' | 'agent') {
    const all = this.page.locator('article');
    const users = this.page.locator('article[data-author=user]');
    return (
      author === 'user' ? users : all.and(this.page.locator(':not([data-author=user])'))
    ).locator('p');
  }

  waitFor(status: 'idle' | 'in_progress') {
    return expect(this.section).toHaveAttribute('data-status', status);
  }
}

const words = (count: number) => Array.from({ length: count }, (_, i) => `word${i + 1}`);

test('the package has what it exports, and no sources of tests', async ({ packed }) => {
  expect(packed.files).toEqual(
    expect.arrayContaining([
      'LICENSE',
      'README.md',
      'dist/index.d.ts',
      ...['react', 'ai-sdk', 'ag-ui'].map((entry) => `dist/${entry}/index.js`),
    ]),
  );
  expect(
    packed.files.filter((path) => !/^(dist|src)\/|^(LICENSE|README.md|package.json)$/.test(path)),
  ).toEqual([]);
});

test('an answer streams, and goes on where it was after a reload', async ({ chat, page }) => {
  await chat.begin();
  await chat.ask('/long 60');
  await expect(chat.said('agent')).toContainText('word3 ');
  await chat.waitFor('in_progress');
  await page.reload();
  await expect(chat.said('user')).toHaveText(['/long 60']);
  await chat.waitFor('idle');
  expect(((await chat.said('agent').textContent()) ?? '').trim().split(/\s+/)).toEqual(words(60));
});

test('an answer can be stopped', async ({ chat }) => {
  await chat.begin();
  await chat.ask('/long 300');
  await expect(chat.said('agent')).toContainText('word3 ');
  await chat.button('Stop').click();
  await chat.waitFor('idle');
  await expect(chat.said('agent')).not.toContainText('word300');
  await chat.ask('Hello');
  await expect(chat.said('agent').last()).toContainText('You said: "Hello"');
  await expect(chat.said('user')).toHaveText(['/long 300', 'Hello']);
});

test('a rewind removes what follows, and the question can be asked differently', async ({
  chat,
  page,
}) => {
  await chat.begin();
  for (const question of ['one', 'two']) {
    await chat.ask(question);
    await expect(chat.said('agent').last()).toContainText(`You said: "${question}"`);
    await chat.waitFor('idle');
  }
  await chat.button('Rewind').last().click();
  await expect(chat.said('user')).toHaveText(['one']);
  await expect(page.getByLabel('Message')).toHaveValue('two');
  await chat.ask('three');
  await expect(chat.said('agent').last()).toContainText('You said: "three"');
  await page.reload();
  await expect(chat.said('user')).toHaveText(['one', 'three']);
});

test('a fork goes on differently, and both branches can be chosen', async ({ chat }) => {
  await chat.begin();
  for (const question of ['one', 'two']) {
    await chat.ask(question);
    await expect(chat.said('agent').last()).toContainText(`You said: "${question}"`);
    await chat.waitFor('idle');
  }
  await chat.button('Fork').last().click();
  await expect(chat.said('user')).toHaveText(['one']);
  await chat.ask('other');
  await expect(chat.said('agent').last()).toContainText('You said: "other"');
  await chat.button('Branch 1').click();
  await expect(chat.said('user')).toHaveText(['one', 'two']);
  await chat.button('Branch 2').click();
  await expect(chat.said('user')).toHaveText(['one', 'other']);
});

test('two tabs show the same, live', async ({ chat, context, page, packed, user }) => {
  await chat.begin();
  const second = new Chat(await context.newPage(), packed.page, user);
  await second.page.goto(page.url());
  await expect(second.section).toHaveAttribute('data-connection', 'live');
  await chat.ask('/long 40');
  await expect(second.said('agent')).toContainText('word3 ');
  await second.button('Stop').click();
  await chat.waitFor('idle');
  await second.ask('Hello');
  await expect(chat.said('agent').last()).toContainText('You said: "Hello"');
});

test('a fork that another tab makes appears', async ({ chat, context, page, packed, user }) => {
  await chat.begin();
  await chat.ask('one');
  await expect(chat.said('agent').last()).toContainText('You said: "one"');
  await chat.waitFor('idle');
  const second = new Chat(await context.newPage(), packed.page, user);
  await second.page.goto(page.url());
  await second.button('Fork').last().click();
  await expect(second.said('user')).toHaveCount(0);
  await expect(chat.button('Branch 2')).toBeVisible();
  await expect(chat.said('user')).toHaveText(['one']);
});

test('a question asked during an answer waits', async ({ chat, page }) => {
  await chat.begin();
  await chat.ask('/long 40');
  await expect(chat.said('agent')).toContainText('word3 ');
  await page.getByLabel('Message').fill('next');
  await chat.button('Send').click();
  await expect(page.getByText('Waiting')).toBeVisible();
  await expect(chat.said('agent').last()).toContainText('You said: "next"');
  await expect(page.getByText('Waiting')).toHaveCount(0);
  await expect(chat.said('user')).toHaveText(['/long 40', 'next']);
});

test('a phone shows a long word, an answer in progress and a waiting question', async ({
  chat,
  page,
}) => {
  await chat.begin();
  await expectReadable(page, async (text) => {
    await page.getByLabel('Message').fill(text);
    await chat.button('Send').click();
  });
});

test('thoughts are no part of the answer, and a failure is told', async ({ chat, page }) => {
  await chat.begin();
  await chat.ask('/think');
  await expect(chat.said('agent')).toHaveText('I have thought about it.');
  await expect(page.locator('details')).toContainText('Let me think about it');
  await chat.waitFor('idle');
  await chat.ask('/fail');
  await expect(page.getByRole('alert')).toHaveText('I was asked to fail.');
});

test('a message that cannot be sent comes back', async ({ chat, faults, page }) => {
  faults.allow(/status of 422/);
  await chat.begin();
  const runs = '**/runs';
  await page.route(runs, (route) =>
    route.fulfill({ status: 422, json: { detail: 'No, thanks.' } }),
  );
  await page.getByLabel('Message').fill('precious words');
  await chat.button('Send').click();
  await expect(page.getByRole('alert')).toContainText('No, thanks.');
  await expect(page.getByLabel('Message')).toHaveValue('precious words');
  await expect(chat.said('user')).toHaveCount(0);
  await page.unroute(runs);
  await chat.button('Send').click();
  await expect(chat.said('agent')).toContainText('You said: "precious words"');
  await expect(page.getByRole('alert')).toHaveCount(0);
});

test('nothing of a user is left after sign-out', async ({ chat, page, user }) => {
  const open = new Set<object>();
  page.on('websocket', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await chat.begin();
  await chat.ask('secret');
  await expect(chat.said('agent')).toContainText('You said: "secret"');
  await chat.button('Sign out').click();
  await expect.poll(() => open.size).toBe(0);
  await page.getByLabel('Name').fill(`${user}-2`);
  await chat.button('Sign in').click();
  await expect(chat.button('New chat')).toBeVisible();
  await expect(page.getByText('secret')).toHaveCount(0);
  await expect(chat.button('Chat')).toHaveCount(0);
});

test('a chat goes on when the server is back', async ({ chat, faults, packed }) => {
  faults.allow(/ERR_CONNECTION_REFUSED/, /WebSocket connection/, /status of (401|500|502)/);
  await chat.begin();
  await chat.ask('before');
  await expect(chat.said('agent')).toContainText('You said: "before"');
  await chat.waitFor('idle');
  await packed.stopSystem();
  await expect(chat.section).toHaveAttribute('data-connection', 'offline');
  await expect(chat.said('user')).toHaveText(['before']);
  await packed.startSystem();
  await expect(chat.section).toHaveAttribute('data-connection', 'live');
  await chat.ask('after');
  await expect(chat.said('agent').last()).toContainText('You said: "after"');
});
