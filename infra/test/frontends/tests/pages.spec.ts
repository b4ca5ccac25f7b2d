// Every page of docs/frontends.md, as it is written there.

import { ASSISTANT_UI, Chat, COPILOTKIT, type Look, PLAIN } from '../support/chat.ts';
import { expect, test } from '../support/test.ts';
import { runsOf, texts, words } from '../support/thread.ts';

type Feature = 'ends' | 'tool' | 'question' | 'state' | 'sends state' | 'edit';

const PAGES: [folder: string, look: Look, features: Feature[]][] = [
  ['ag-ui', PLAIN, []],
  ['copilotkit', COPILOTKIT, ['ends', 'tool', 'question', 'state', 'sends state', 'edit']],
  ['assistant-ui', ASSISTANT_UI, ['ends', 'tool', 'question', 'state', 'sends state', 'edit']],
  ['assistant-ui-use-chat', ASSISTANT_UI, ['ends', 'edit']],
  ['use-chat', PLAIN, ['ends', 'question', 'state', 'edit']],
];

for (const [folder, look, features] of PAGES) {
  const has = (feature: Feature) => features.includes(feature);
  const on = (title: string, play: (chat: Chat) => Promise<void>) =>
    test(`${folder}: ${title}`, async ({ page }) => {
      const chat = new Chat(page, folder, look);
      await chat.open();
      await play(chat);
    });
  const ended = async (chat: Chat) => {
    if (has('ends')) await chat.ended();
  };
  const lastRun = async (chat: Chat) => (await runsOf(chat.thread)).at(-1)?.status;

  on('an answer goes on where it was after a reload', async (chat) => {
    await chat.ask('long 120');
    await expect(chat.said('assistant')).toContainText('word3 ');
    await chat.page.reload();
    await expect(chat.said('assistant')).toContainText('word9 ');
    expect(await lastRun(chat)).toBe('in_progress');
    await expect(chat.said('assistant')).toHaveText(words(120));
    await ended(chat);
    await expect(chat.said('user')).toHaveText(['long 120']);
    await chat.ask('hello');
    await expect(chat.said('assistant')).toHaveText([
      words(120),
      'You said: "hello" as message 2.',
    ]);
    await chat.page.reload();
    await expect(chat.said('assistant')).toHaveText([
      words(120),
      'You said: "hello" as message 2.',
    ]);
    expect(await runsOf(chat.thread)).toHaveLength(2);
  });

  on('a stop is a stop of the run, also after a reload', async (chat) => {
    for (const reload of [false, true]) {
      await chat.ask('long 900');
      await expect(chat.said('assistant').last()).toContainText('word3 ');
      await expect.poll(() => lastRun(chat)).toBe('in_progress');
      if (reload) await chat.page.reload();
      await expect(chat.said('assistant').last()).toContainText('word9 ');
      await chat.stop();
      await expect.poll(() => lastRun(chat)).toBe('cancelled');
      await ended(chat);
    }
    await chat.ask('hello');
    await expect(chat.said('assistant').last()).toContainText('You said: "hello"');
  });

  on('a second tab shows the same, and can stop it', async (chat) => {
    await chat.ask('long 900');
    await expect(chat.said('assistant')).toContainText('word3 ');
    const second = await chat.inNewTab();
    await expect(second.said('user')).toHaveText(['long 900']);
    await expect(second.said('assistant')).toContainText('word9 ');
    await second.stop();
    await expect.poll(() => lastRun(chat)).toBe('cancelled');
    await ended(chat);
    await ended(second);
  });

  if (has('tool')) {
    on('a tool of the page answers its call', async (chat) => {
      await chat.ask('color red');
      await expect(chat.said('assistant').last()).toHaveText('You decided: {"result":"red"}');
      await expect(chat.page.locator('body')).toHaveCSS('background-color', 'rgb(255, 0, 0)');
      expect(await runsOf(chat.thread)).toHaveLength(2);
    });
  }

  if (has('question')) {
    for (const reload of [false, true]) {
      on(`a question is answered${reload ? ' after a reload' : ''}`, async (chat) => {
        await chat.ask('ask');
        await expect(chat.approval).toBeVisible();
        if (reload) await chat.page.reload();
        await chat.approve();
        await expect(chat.said('assistant').last()).toHaveText('You decided: {"approved":true}');
        await expect(chat.approval).toHaveCount(0);
        expect(await runsOf(chat.thread)).toHaveLength(2);
        await chat.ask('hello');
        await expect(chat.said('assistant').last()).toContainText('You said: "hello"');
      });
    }
    on('a question that comes after a reload is answered', async (chat) => {
      await chat.ask('late');
      await expect(chat.said('assistant')).toContainText('word3 ');
      await chat.page.reload();
      await chat.approve();
      await expect(chat.said('assistant').last()).toHaveText('You decided: {"approved":true}');
      await expect(chat.approval).toHaveCount(0);
      expect(await runsOf(chat.thread)).toHaveLength(2);
    });
  }

  if (has('state')) {
    on('the state of the agent is shown', async (chat) => {
      await chat.ask('remember tea');
      await expect.poll(() => noteOf(chat)).toBe('tea');
      await expect(chat.said('assistant')).toHaveText('I remember.');
      if (!has('sends state')) return;
      await chat.note.fill('coffee');
      await chat.ask('recall');
      await expect(chat.said('assistant').last()).toHaveText('The state is {"note":"coffee"}.');
      await chat.page.reload();
      await expect.poll(() => noteOf(chat)).toBe('coffee');
    });
  }

  if (has('edit')) {
    on('an edit and a regenerated answer rewind the thread', async (chat) => {
      for (const [i, text] of ['one', 'two'].entries()) {
        await chat.ask(text);
        await expect(chat.said('assistant').nth(i)).toHaveText(
          `You said: "${text}" as message ${i + 1}.`,
        );
        await chat.ended();
      }
      await chat.edit('other');
      await expect(chat.said('assistant').last()).toHaveText('You said: "other" as message 2.');
      await chat.ended();
      await chat.regenerate();
      await expect.poll(async () => (await runsOf(chat.thread)).length).toBe(4);
      await expect.poll(() => lastRun(chat)).toBe('completed');
      for (const reload of [false, true]) {
        if (reload) await chat.page.reload();
        await expect(chat.said('user')).toHaveText(['one', 'other']);
        await expect(chat.said('assistant')).toHaveText([
          'You said: "one" as message 1.',
          'You said: "other" as message 2.',
        ]);
      }
      expect(await texts(chat.thread)).toEqual([
        'user: one',
        'demo: You said: "one" as message 1.',
        'user: other',
        'demo: You said: "other" as message 2.',
      ]);
    });
  }
}

const noteOf = ({ note }: Chat) =>
  note.evaluate((e) => ('value' in e && e.value ? String(e.value) : (e.textContent ?? '')));
