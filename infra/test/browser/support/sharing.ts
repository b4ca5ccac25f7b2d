// Sharing as a person does it, and by the API.

import { expect, type Locator, type Page } from '@playwright/test';
import type { Api } from './api.ts';

export interface Share {
  id: string;
  user_id: string | null;
  expires_time: number | null;
  token?: string;
}

/** Opens the dialog from the header of the open chat. */
export async function openDialog(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Chat options' }).click();
  await page.getByRole('menuitem', { name: 'Share' }).click();
  const dialog = page.getByRole('dialog', { name: /^Share/ });
  await expect(dialog.getByRole('heading', { name: /^Who has access/ })).toBeVisible();
  return dialog;
}

/** Creates a link in the dialog and returns its address. */
export async function createLink(dialog: Locator, access = 'Can read'): Promise<string> {
  await dialog.getByLabel('Anyone with a link').check();
  await dialog.getByRole('combobox', { name: 'Access' }).selectOption(access);
  await dialog.getByRole('button', { name: 'Create a link' }).click();
  const field = dialog.getByRole('textbox', { name: 'Link', exact: true });
  await expect(field).toBeFocused();
  return field.inputValue();
}

export async function share(api: Api, session: string, body: object): Promise<Share> {
  const answer = await api.send('POST', `/sessions/${session}/shares`, body);
  return (answer as { data: Share }).data;
}

export async function revoke(api: Api, session: string, { id }: Share): Promise<void> {
  await api.send('DELETE', `/sessions/${session}/shares/${id}`);
}
