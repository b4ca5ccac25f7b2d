// A2A notifications of a chat: the addresses are listed, added and removed.

import type { Page } from '@playwright/test';
import type { Api } from '../support/api.ts';
import { test as base, expect } from '../support/people.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expectGood } from '../support/settings.ts';
import { share } from '../support/sharing.ts';

const test = base.extend<{ receiver: Receiver }>({
  receiver: async ({}, use) => {
    const receiver = await startReceiver();
    await use(receiver);
    await receiver.stop();
  },
});

interface Task {
  id: string;
  contextId: string;
  status: { state: string };
}

/** Begins a task over A2A. */
async function begin(api: Api, text: string, contextId = '', waits = true): Promise<Task> {
  const message = {
    messageId: crypto.randomUUID(),
    role: 'ROLE_USER',
    parts: [{ text }],
    ...(contextId && { contextId }),
  };
  const configuration = { returnImmediately: !waits };
  const answer = await api.a2a('demo', 'message:send', { message, configuration });
  return (answer as { task: Task }).task;
}

async function openSettings(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Chat options' }).click();
  await page.getByRole('menuitem', { name: 'Chat settings' }).click();
  await page.getByRole('link', { name: 'Notifications of other servers' }).click();
}

onScreens(ALL, ({ width, resize }) => {
  test('an address is added, notified and removed', async ({
    console,
    api,
    page,
    receiver,
    faults,
  }) => {
    faults.allow(/status of 400/);
    const task = await begin(api, '/long 5000', '', false);
    await console.signIn(`/s/${task.contextId}`);
    await resize(page);
    await openSettings(page);
    const shown = page.getByTestId('a2a-task');
    await expect(shown).toHaveCount(1);
    await expect(shown.getByRole('heading', { name: '/long 5000' })).toBeVisible();
    await expect(shown).toContainText('In progress');
    await expect(shown).toContainText('No server is notified.');
    await expectGood(page, width);

    await shown.getByRole('link', { name: 'Notify a server' }).click();
    const address = page.getByRole('textbox', { name: 'Address' });
    const scheme = page.getByRole('textbox', { name: 'Scheme' });
    await test.step('mistakes are shown at their fields', async () => {
      await address.fill('ftp://example.com/x');
      await page.getByRole('button', { name: 'Add' }).click();
      await expect(address).toBeFocused();
      await expect(address).toHaveAccessibleDescription(/Cannot be called/);
      await address.fill(receiver.url);
      await page.getByRole('textbox', { name: 'Credentials' }).fill('secret');
      await page.getByRole('button', { name: 'Add' }).click();
      await expect(scheme).toBeFocused();
      await expect(scheme).toHaveAccessibleDescription(/Must say what the credentials are for/);
      await expect(address).toHaveAttribute('aria-invalid', 'false');
      await expectGood(page, width);
    });

    await scheme.fill('Bearer');
    await page.getByRole('textbox', { name: 'Token' }).fill('mine');
    await page.getByRole('button', { name: 'Add' }).click();
    const notified = page.getByTestId('notified');
    await expect(notified).toHaveCount(1);
    await expect(notified).toContainText(receiver.url);
    await expect(notified).toContainText('Signs in with Bearer');
    await expect(notified).toContainText('token mine');
    await expect(notified).not.toContainText('secret');
    await expectGood(page, width);

    await api.a2a('demo', `tasks/${task.id}:cancel`, {});
    await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBeGreaterThan(0);
    expect(receiver.received[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'x-a2a-notification-token': 'mine',
    });
    await page.reload();
    await expect(shown).toContainText('It is over: nothing more is sent.');

    await notified.getByRole('button', { name: 'Remove' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove address?' });
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await expect(shown).toContainText('No server is notified.');
    await shown.getByRole('link', { name: 'Show it in the chat' }).click();
    await expect(console.said('user').first()).toBeInViewport();
  });
});

test('a chat of the console has none, and only its owner may add one', async ({
  console,
  api,
  page,
  another,
}) => {
  const { id } = await api.createSession({ name: 'Mine' });
  await api.say(id, ['Hello', 'Hello!']);
  await console.signIn(`/s/${id}`);
  await openSettings(page);
  await expect(page.getByText('Nothing was asked of this agent over A2A')).toBeVisible();

  const bob = await another('bob');
  await share(api, id, { user_id: bob.user, access: 'write' });
  await bob.console.signIn(`/settings/notifications/${id}`);
  await expect(bob.console.page.getByText('Only the owner of a chat')).toBeVisible();
  await expect(bob.console.page.getByRole('link', { name: 'Notify a server' })).toHaveCount(0);
});

test('tasks are shown page by page, and one that cannot be read leaves the others', async ({
  console,
  api,
  page,
  faults,
}) => {
  faults.allow(/status of 400/);
  const { contextId, id } = await begin(api, 'Task 0');
  for (let n = 1; n < 7; n++) await begin(api, `Task ${n}`, contextId);
  const path = `**/tasks/${id}/pushNotificationConfigs`;
  await page.route(path, (route) =>
    route.fulfill({ status: 400, json: { error: { message: 'It cannot be decoded.' } } }),
  );
  await console.signIn(`/settings/notifications/${contextId}`);
  const shown = page.getByTestId('a2a-task');
  await expect(shown).toHaveCount(5);
  await page.getByRole('button', { name: 'Show more' }).click();
  await expect(shown).toHaveCount(7);
  await expect(shown.last()).toContainText('It cannot be decoded.');
  await expect(shown.first()).toContainText('No server is notified.');
  await page.unroute(path);
  await shown.last().getByRole('button', { name: 'Try again' }).click();
  await expect(shown.last()).toContainText('No server is notified.');
});
