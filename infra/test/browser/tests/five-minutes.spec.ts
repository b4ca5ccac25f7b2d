// docs/five-minutes.md, command by command, in an empty folder.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expectReadable } from '../support/copied.ts';
import { Newcomer, versionsOnPage } from '../support/newcomer.ts';
import { ROOT } from '../support/system.ts';
import { test as base, expect } from '../support/test.ts';

const test = base.extend<{ newcomer: Newcomer }>({
  newcomer: async ({}, use) => {
    const newcomer = await Newcomer.arrive();
    await use(newcomer);
    await newcomer.leave();
  },
});

test('the page leads to a chat that can be forked and rewound, and to an own agent', async ({
  newcomer,
  page,
  faults,
}) => {
  test.setTimeout(600_000);
  const articles = page.locator('article');
  const said = (author: string) =>
    articles.filter({ has: page.locator(`b:text-is("${author}")`) }).locator('span');
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const ask = async (text: string) => {
    await page.getByLabel('Message').fill(text);
    await button('Send').click();
  };
  faults.allow(/favicon/); // browsers ask for one, and the page has none
  const newChat = async () => {
    await button('New chat').click();
    await expect(articles).toHaveCount(0);
    await expect(page.getByLabel('Message')).toBeVisible();
  };
  const began = Date.now();
  const printed = await newcomer.follow(/^npx vite$/);
  const url = /http:\/\/\S+/.exec(printed.slice(printed.indexOf('Local:')))?.[0] ?? '';

  await test.step('a chat that streams', async () => {
    await page.goto(url);
    await newChat();
    for (const question of ['one', 'two']) {
      await ask(question);
      await expect(articles.last()).toContainText(`You said: "${question}"`);
      await expect(button('Stop')).toHaveCount(0);
    }
    await ask('/long 60');
    await expect(articles.last()).toContainText('word3 ');
    await page.reload();
    await button('Chat').click();
    await expect(articles.last()).toContainText('word60');
  });
  await test.step('a fork from any message', async () => {
    await button('Fork').nth(1).click();
    await expect(said('user')).toHaveText(['one']);
    await ask('other');
    await expect(articles.last()).toContainText('You said: "other"');
    await ask('/fail');
    await expect(page.getByRole('alert')).toHaveText('I was asked to fail.');
    await button('Chat').click();
    await expect(said('user')).toHaveText(['one', 'two', '/long 60']);
  });
  await test.step('a rewind', async () => {
    await button('Rewind').nth(1).click();
    await expect(said('user')).toHaveText(['one']);
  });
  await test.step('on a phone', async () => {
    await newChat();
    await expectReadable(page, ask);
  });
  await test.step('an agent of your own', async () => {
    faults.allow(/ERR_CONNECTION_REFUSED/, /WebSocket connection/);
    await newcomer.follow(/^AGENTS=.*make run$/);
    await newChat();
    await ask('hello');
    await expect(articles.last()).toContainText('This is message 1.');
    await button('Fork').click();
    await expect(articles).toHaveCount(0);
    await ask('again');
    await expect(articles.last()).toContainText('This is message 1.');
    await expect(said('user')).toHaveText(['again']);
  });
  process.stdout.write(`${newcomer.commands.length} commands in ${Date.now() - began} ms\n`);
  expect(newcomer.commands.length).toBeGreaterThanOrEqual(10);
});

test('the page names the versions of the example', async () => {
  const manifest = join(ROOT, 'docs/examples/react-chat/package.json');
  const { dependencies, devDependencies } = JSON.parse(await readFile(manifest, 'utf8'));
  const known = Object.entries({ ...dependencies, ...devDependencies });
  const named = await versionsOnPage();
  expect(named.length).toBeGreaterThanOrEqual(3);
  expect(known.map(([name, version]) => `${name}@${version}`)).toEqual(
    expect.arrayContaining(named),
  );
});
