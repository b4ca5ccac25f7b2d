// What CopilotKit's own runner loses, and the one of docs/frontends.md does not.

import { Chat, COPILOTKIT } from '../support/chat.ts';
import { freePort, startRuntime } from '../support/runtime.ts';
import { expect, test } from '../support/test.ts';
import { runsOf, threadOf } from '../support/thread.ts';

const PROGRAM = new URL('../support/default-runner.mjs', import.meta.url).pathname;

test('the default runner does not stop the run and forgets its thread, which Rethread has', async ({
  page,
}) => {
  const port = await freePort();
  const start = () => startRuntime(PROGRAM, port, { PORT: String(port) });
  let runtime = await start();
  const documented = `${process.env.RUNTIME_URL}/copilotkit/**`;
  await page.route(documented, (route) => {
    const url = new URL(route.request().url());
    url.port = String(port);
    return route.continue({ url: url.href });
  });
  try {
    const chat = new Chat(page, 'copilotkit', COPILOTKIT);
    await chat.open();
    await chat.ask('long 900');
    await expect(chat.said('assistant')).toContainText('word3 ');
    await chat.stop();
    await chat.ended();
    expect((await runsOf(chat.thread)).at(-1)?.status).toBe('in_progress');

    runtime.kill();
    runtime = await start();
    await page.reload();
    await expect(page.locator('[data-copilot-running=false]')).toBeVisible();
    await expect(chat.said('user')).toHaveCount(0);

    await page.unroute(documented);
    await page.reload();
    await expect(chat.said('user')).toHaveText(['long 900']);
    await expect(chat.said('assistant')).toContainText('word9 ');
    await chat.stop();
    await expect.poll(async () => (await runsOf(chat.thread)).at(-1)?.status).toBe('cancelled');
  } finally {
    runtime.kill();
  }
});

test('the page learns that a request was refused', async ({ page, allowed }) => {
  allowed.push(/HTTP 403/);
  const chat = new Chat(page, 'copilotkit', COPILOTKIT);
  await chat.open(await threadOf('bob'));
  const reported = page.waitForEvent('console', (m) => /run_error.*HTTP 403/.test(m.text()));
  await chat.ask('hello');
  await reported;
});
