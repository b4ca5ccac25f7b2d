// Export, import and the deletion of everything, in the settings.

import type { Page } from '@playwright/test';
import { ALL, onScreens } from '../support/screens.ts';
import { expectGood } from '../support/settings.ts';
import { test as base, expect } from '../support/test.ts';

const test = base.extend({
  faults: async ({ faults }, use) => {
    faults.allow(/status of 404 .*\/me\/data\)$/); // nothing was deleted yet
    await use(faults);
  },
});

/** Has the page choose a folder of the browser's own, which needs no dialog of the system. */
const chooseFolder = (page: Page) =>
  page.addInitScript(() => {
    Object.assign(window, { showDirectoryPicker: () => navigator.storage.getDirectory() });
  });

/** The files in that folder. */
const filesIn = (page: Page): Promise<Record<string, string>> =>
  page.evaluate(async () => {
    const files: Record<string, string> = {};
    type Folder = AsyncIterable<[string, FileSystemHandle]>; // which the types lack
    const folder = (await navigator.storage.getDirectory()) as unknown as Folder;
    for await (const [name, file] of folder) {
      if (file instanceof FileSystemFileHandle) files[name] = await (await file.getFile()).text();
    }
    return files;
  });

const fileOf = (name: string, text: string) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(text),
});

onScreens(ALL, ({ width, resize }) => {
  test('all sessions are exported, deleted and imported again', async ({
    console,
    api,
    page,
    faults,
  }) => {
    test.slow(); // many steps
    faults.allow(/status of 409/);
    await chooseFolder(page);
    const { id } = await api.createSession({ name: 'Trip: to/from Lisbon' });
    await api.say(id, ['Where to?', 'To Lisbon.']);
    const other = await api.createSession({ name: '' });
    await console.signIn('/settings/data');
    await resize(page);
    await expectGood(page, width);

    let files: Record<string, string> = {};
    await test.step('they are exported', async () => {
      await page.getByRole('button', { name: 'Export all my chats' }).click();
      await expect(page.getByTestId('export-progress')).toContainText('2 of 2 exported');
      files = await filesIn(page);
      expect(Object.keys(files).sort()).toEqual(
        [`Trip_ to_from Lisbon (${id}).json`, `${other.id}.json`].sort(),
      );
      for (const text of Object.values(files)) expect(JSON.parse(text).complete).toBe(true);
    });

    await test.step('an import under the same id is refused, and made as a copy', async () => {
      const [name = '', text = ''] =
        Object.entries(files).find(([, text]) => text.includes('Where to?')) ?? [];
      await page.getByLabel('Files to import').setInputFiles(fileOf(name, text));
      const row = page.getByTestId('import');
      await expect(row).toContainText('Failed');
      await expectGood(page, width);
      await row.getByRole('button', { name: 'Import as a copy' }).click();
      await expect(row).toContainText('Imported');
      expect(await api.sessions()).toHaveLength(3);
      await row.getByRole('button', { name: 'Dismiss' }).click();
    });

    await test.step('everything is deleted after the words were typed', async () => {
      await page.getByRole('button', { name: 'Delete everything…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Delete everything?' });
      const confirm = dialog.getByRole('button', { name: 'Delete everything' });
      await expect(confirm).toBeDisabled();
      await dialog.getByRole('textbox').fill('delete everything');
      await expectGood(page, width);
      await confirm.click();
      await expect(page.getByTestId('erasure')).toContainText(/Deleted at .*3 chats/);
      expect(await api.sessions()).toEqual([]);
      await expectGood(page, width);
    });

    await test.step('they are imported, with what they said', async () => {
      const chosen = Object.entries(files).map(([name, text]) => fileOf(name, text));
      await page.getByLabel('Files to import').setInputFiles(chosen);
      await expect(page.getByTestId('import').filter({ hasText: 'Imported' })).toHaveCount(2);
      await page.getByTestId('import').getByRole('link', { name: 'Trip' }).click();
      await expect(console.said('agent')).toHaveText('To Lisbon.');
      await page.goBack();
      await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click();
      await expect(page.getByLabel('Your name')).toBeVisible();
    });
  });
});

test('a large session is imported in parts, and goes on where it stopped', async ({
  console,
  api,
  page,
  faults,
}) => {
  test.slow(); // it moves megabytes
  faults.allow(/ERR_FAILED/, /status of/);
  await chooseFolder(page);
  const { id } = await api.createSession({ name: 'Large' });
  for (let n = 0; n < 6; n++) {
    await api.put(id, `notes-${n}.txt`, 'text/plain', `${n} ${'ä lot of text. '.repeat(60_000)}`);
  }
  await console.signIn('/settings/data');
  await page.getByRole('button', { name: 'Export all my chats' }).click();
  await expect(page.getByTestId('export-progress')).toContainText('1 of 1 exported');
  const [[name, text] = ['', '']] = Object.entries(await filesIn(page));
  await api.send('DELETE', `/sessions/${id}`);

  await page.route('**/parts/2', (route) => route.fulfill({ status: 500, body: '{}' }));
  await page.getByLabel('Files to import').setInputFiles(fileOf(name, text));
  const row = page.getByTestId('import');
  await expect(row).toContainText('Failed', { timeout: 60_000 });
  await expect(row).toContainText('Nothing of it is visible yet.');
  expect(await api.sessions()).toEqual([]);
  await page.unroute('**/parts/2');
  const starts: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/sessions/import')) starts.push(request.url());
  });
  await row.getByRole('button', { name: 'Try again' }).click();
  await expect(row).toContainText('Imported', { timeout: 60_000 });
  expect(starts).toEqual([]);
  expect(await api.sessions()).toHaveLength(1);
});

test('an import that is cancelled leaves nothing', async ({ console, api, page }) => {
  test.slow(); // it moves megabytes
  const head = { format: 'rethread.session/1', session: { id: 'x' }, timeline: [{ from: 1 }] };
  const artifact = { name: 'a', version: 1, data: 'A'.repeat(1_900_000) };
  const document = { ...head, artifacts: [artifact, artifact], complete: true };
  let abandoned = '';
  await page.route('**/sessions/import', (route) =>
    route.fulfill({
      status: 202,
      json: { data: { import_id: 'i1', session_id: 'x', next_part: 2, expires_time: 1 } },
    }),
  );
  await page.route('**/parts/2', () => {}); // no answer
  await page.route('**/sessions/import/i1', (route) => {
    abandoned = route.request().method();
    return route.fulfill({ status: 204 });
  });
  await console.signIn('/settings/data');
  const file = fileOf('x.json', JSON.stringify(document));
  await Promise.all([
    page.waitForRequest('**/parts/2', { timeout: 60_000 }),
    page.getByLabel('Files to import').setInputFiles(file),
  ]);
  await page.getByTestId('import').getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByTestId('import')).toContainText('Cancelled');
  await expect.poll(() => abandoned).toBe('DELETE');
  expect(await api.sessions()).toEqual([]);
});

test('what is no document is refused with a reason', async ({ console, page }) => {
  await console.signIn('/settings/data');
  await page.getByLabel('Files to import').setInputFiles(fileOf('notes.json', 'not {json'));
  await expect(page.getByRole('alert')).toContainText('The file is no JSON document.');
});

test('without folders, each session is a download', async ({ console, api, page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(window, 'showDirectoryPicker', { value: undefined });
  });
  const { id } = await api.createSession({ name: 'Trip' });
  await console.signIn('/settings/data');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export all my chats' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`Trip (${id}).json`);
  await expect(page.getByTestId('export-progress')).toContainText('1 of 1 exported');
});
