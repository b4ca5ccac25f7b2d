// Webhooks in the settings, with a receiver on this machine.

import type { Page } from '@playwright/test';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expectGood } from '../support/settings.ts';
import { test as base, expect } from '../support/test.ts';

const test = base.extend<{ receiver: Receiver }>({
  receiver: async ({}, use) => {
    const receiver = await startReceiver();
    await use(receiver);
    await receiver.stop();
  },
});

const LONG = `/${'averylongpathindeed'.repeat(12)}?${'token'.repeat(20)}`;

/** The newest delivery in the list of a webhook. */
const newest = (page: Page) => page.getByTestId('delivery').first();

onScreens(ALL, ({ width, resize }) => {
  test('a webhook is made, tested, replayed, paused and deleted', async ({
    console,
    page,
    receiver,
    faults,
  }) => {
    test.slow(); // many steps
    faults.allow(/status of 422/);
    await console.signIn('/settings/webhooks');
    await resize(page);
    await expect(page.getByText('There are no webhooks yet.')).toBeVisible();
    await expectGood(page, width);
    await page.getByRole('link', { name: 'New webhook' }).click();
    await expect(page.getByRole('heading', { name: 'New webhook' })).toBeFocused();

    const address = page.getByRole('textbox', { name: 'Address' });
    await test.step('mistakes are shown at their fields', async () => {
      const agents = page.getByRole('textbox', { name: 'Agents' });
      await address.fill('ftp://example.com/x');
      await page.getByRole('button', { name: 'Create webhook' }).click();
      await expect(address).toBeFocused();
      await expect(address).toHaveAttribute('aria-invalid', 'true');
      await expect(address).toHaveAccessibleDescription(/must be/i);
      await address.fill(receiver.url);
      await agents.fill('one\na/b/c');
      await page.getByRole('button', { name: 'Create webhook' }).click();
      await expect(agents).toBeFocused();
      await expect(address).toHaveAttribute('aria-invalid', 'false');
      await expectGood(page, width);
    });

    await test.step('it is created', async () => {
      await address.fill(receiver.url + LONG);
      await page.getByRole('textbox', { name: 'Description' }).fill('To the shop');
      await page.getByRole('textbox', { name: 'Agents' }).fill('');
      await page.getByRole('checkbox', { name: /All about answers/ }).check();
      await expect(page.getByRole('checkbox', { name: /An answer failed/ })).toBeDisabled();
      await page.getByRole('checkbox', { name: /A session was created/ }).check();
      await page.getByRole('button', { name: 'Create webhook' }).click();
      await expect(page.getByRole('heading', { name: 'To the shop' })).toBeVisible();
      await expect(
        page.getByText('A session was created or imported, All about answers'),
      ).toBeVisible();
    });

    await test.step('the secret is shown on request, and replaced', async () => {
      await page.getByRole('button', { name: 'Show the secret' }).click();
      const secret = page.getByTestId('secret');
      await expect(secret).toHaveText(/^whsec_/);
      const first = await secret.textContent();
      await page.getByRole('button', { name: 'Replace…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Replace the secret' });
      await expect(dialog).toContainText('24 hours');
      await dialog.getByRole('button', { name: 'Replace' }).click();
      await expect(secret).not.toHaveText(first ?? '');
      await expect(page.getByText('An earlier secret signs messages too')).toBeVisible();
      await page.getByRole('button', { name: 'Hide the secret' }).click();
      await expect(secret).toHaveCount(0);
    });

    await test.step('a test is sent, with both signatures', async () => {
      await page.getByRole('button', { name: 'Send a test' }).click();
      await expect(newest(page)).toContainText('A test');
      await expect(newest(page)).toContainText('Delivered');
      await expect(newest(page)).toContainText('last answer: 204');
      expect(receiver.received).toHaveLength(1);
      expect(String(receiver.received[0]?.headers['webhook-signature']).split(' ')).toHaveLength(2);
      await expectGood(page, width);
    });

    await test.step('a delivery is shown in detail, and sent again', async () => {
      await newest(page).getByRole('link').click();
      await expect(page.getByTestId('delivery-state')).toHaveText('Delivered');
      await expect(page.getByTestId('attempt')).toHaveCount(1);
      const body = await page.getByTestId('delivery-body').textContent();
      expect(JSON.parse(body ?? '')).toEqual(JSON.parse(receiver.received[0]?.body ?? ''));
      receiver.status = 500;
      await page.getByRole('button', { name: 'Send again' }).click();
      await expect(page.getByTestId('attempt').first()).toContainText('500');
      expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
      receiver.status = 204;
      await expect(page.getByTestId('delivery-state')).toHaveText('Delivered');
      await expectGood(page, width);
      await page.getByRole('link', { name: 'Webhook', exact: true }).click();
    });

    await test.step('it is paused and activated', async () => {
      await page.getByRole('button', { name: 'Pause' }).click();
      await expect(page.getByText('You have paused it.')).toBeVisible();
      await expect(page.getByRole('button', { name: 'Send a test' })).toBeDisabled();
      await page.getByRole('button', { name: 'Activate' }).click();
      await expect(page.getByRole('button', { name: 'Send a test' })).toBeEnabled();
    });

    await test.step('it is changed', async () => {
      await page.getByRole('link', { name: 'Edit' }).click();
      await expect(address).toHaveValue(receiver.url + LONG);
      await expect(page.getByRole('checkbox', { name: /All about answers/ })).toBeChecked();
      await page.getByRole('textbox', { name: 'Description' }).fill('');
      await page.getByRole('button', { name: 'Save' }).click();
      await expect(page.getByRole('heading', { name: 'Webhook', exact: true })).toBeVisible();
      await page.getByRole('link', { name: 'Webhooks' }).last().click();
      await expect(page.getByRole('link', { name: /averylongpath/ })).toBeVisible();
      await expectGood(page, width);
      await page.goBack();
    });

    await test.step('it is deleted', async () => {
      await page.getByRole('button', { name: 'Delete' }).click();
      await page
        .getByRole('dialog', { name: 'Delete webhook?' })
        .getByRole('button', { name: 'Delete' })
        .click();
      await expect(page.getByText('There are no webhooks yet.')).toBeVisible();
    });
  });
});

onScreens(ALL, ({ width, resize }) => {
  test('200 deliveries are read page by page', async ({ console, api, page, receiver }) => {
    test.slow(); // many steps
    const { data } = (await api.send('POST', '/webhooks', { url: receiver.url })) as {
      data: { id: string };
    };
    for (let n = 0; n < 200; n += 20) {
      await Promise.all(Array.from({ length: 20 }, () => api.createSession()));
    }
    await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(200);
    await console.signIn(`/settings/webhooks/${data.id}`);
    await resize(page);
    const rows = page.getByTestId('delivery');
    for (const shown of [50, 100, 150, 200]) {
      await expect(rows).toHaveCount(shown);
      const more = page.getByRole('main').getByRole('button', { name: 'Show more' });
      if ((await more.count()) > 0) await more.click();
    }
    await expectGood(page, width);
  });
});

test('what another tab has changed is shown, and not overwritten', async ({
  console,
  api,
  page,
  receiver,
  faults,
}) => {
  faults.allow(/status of 412/);
  const { data } = (await api.send('POST', '/webhooks', { url: receiver.url })) as {
    data: { id: string };
  };
  await console.signIn(`/settings/webhooks/${data.id}/edit`);
  const description = page.getByRole('textbox', { name: 'Description' });
  await description.fill('Mine');
  await api.send('PATCH', `/webhooks/${data.id}`, { description: 'Theirs' });
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('alert')).toContainText('changed');
  await expect(description).toHaveValue('Mine');
  await console.open(`/settings/webhooks/${data.id}`);
  await expect(page.getByRole('heading', { name: 'Theirs' })).toBeVisible();
});

test('a second press of the button makes no second webhook', async ({
  console,
  api,
  page,
  receiver,
}) => {
  await console.signIn('/settings/webhooks/new');
  await page.getByRole('textbox', { name: 'Address' }).fill(receiver.url);
  await page.getByRole('button', { name: 'Create webhook' }).dblclick();
  await expect(page.getByRole('heading', { name: 'Webhook', exact: true })).toBeVisible();
  const { data } = (await api.send('GET', '/webhooks')) as { data: unknown[] };
  expect(data).toHaveLength(1);
});
