// Webhooks in the settings, with a receiver on this machine.

import type { Page } from '@playwright/test';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { test as base, expect } from '../support/test.ts';

const test = base.extend<{ receiver: Receiver }>({
  receiver: async ({}, use) => {
    const receiver = await startReceiver();
    await use(receiver);
    await receiver.stop();
  },
});

/** The newest delivery in the list of a webhook. */
const newest = (page: Page) => page.getByTestId('delivery').first();

test('a webhook is created, tested, and a delivery is sent again', async ({
  console,
  page,
  receiver,
  faults,
}) => {
  faults.allow(/status of 422/);
  await console.signIn('/settings/webhooks/new');
  const address = page.getByRole('textbox', { name: 'Address' });
  await test.step('a mistake is shown at its field', async () => {
    await address.fill('ftp://example.com/x');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await expect(address).toBeFocused();
    await expect(address).toHaveAccessibleDescription(/must be/i);
  });

  await test.step('it is created, and its secret replaced', async () => {
    await address.fill(receiver.url);
    await page.getByRole('textbox', { name: 'Description' }).fill('To the shop');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await expect(page.getByRole('heading', { name: 'To the shop' })).toBeVisible();
    await page.getByRole('button', { name: 'Show the secret' }).click();
    const secret = page.getByTestId('secret');
    await expect(secret).toHaveText(/^whsec_/);
    const first = await secret.textContent();
    await page.getByRole('button', { name: 'Replace…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
    await expect(secret).not.toHaveText(first ?? '');
  });

  await test.step('a test is sent, with both signatures', async () => {
    await page.getByRole('button', { name: 'Send a test' }).click();
    await expect(newest(page)).toContainText('A test');
    await expect(newest(page)).toContainText('Delivered');
    await expect(newest(page)).toContainText('last answer: 204');
    expect(receiver.received).toHaveLength(1);
    expect(String(receiver.received[0]?.headers['webhook-signature']).split(' ')).toHaveLength(2);
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
  });
});
