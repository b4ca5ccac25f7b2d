// The artifact panel, and the chips that open it.

import { readFile } from 'node:fs/promises';
import { ALL, onScreens } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

onScreens(ALL, ({ narrow, resize }) => {
  test('files are uploaded, shown, downloaded and deleted', async ({ console, api, page }) => {
    const { id } = await api.createSession({ name: 'Files' });
    await console.signIn(`/s/${id}`);
    await resize(page);
    await page.getByRole('button', { name: 'Side panel' }).click();
    await page.getByRole('tab', { name: 'Artifacts' }).click();
    await expect(page.getByText('No artifacts yet.')).toBeVisible();

    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Upload' }).click();
    await (await chooser).setFiles([
      {
        name: 'notes.md',
        mimeType: 'text/markdown',
        buffer: Buffer.from('# Notes\n\n*One* thing.'),
      },
      { name: 'pixel.png', mimeType: 'image/png', buffer: Buffer.from(PIXEL, 'base64') },
    ]);
    const list = page.getByRole('tabpanel').getByRole('list', { name: 'Artifacts' });
    await expect(list.getByRole('listitem')).toContainText(['notes.md', 'pixel.png']);

    await list.getByRole('button', { name: /pixel\.png/ }).click();
    const picture = page.getByTestId('artifact-content').getByRole('img');
    await expect
      .poll(() => picture.evaluate((img) => (img as HTMLImageElement).naturalWidth))
      .toBe(1);
    await page.getByRole('button', { name: 'All artifacts' }).click();

    // On a narrow screen the panel covers the chat
    if (narrow) await list.getByRole('button', { name: /notes\.md/ }).click();
    else await page.getByTestId('artifact-chip').filter({ hasText: 'notes.md' }).click();
    const content = page.getByTestId('artifact-content');
    await expect(content.getByRole('heading', { name: 'Notes' })).toBeVisible();
    const downloaded = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const download = await downloaded;
    expect(download.suggestedFilename()).toBe('notes.md');
    expect(await readFile(await download.path(), 'utf8')).toBe('# Notes\n\n*One* thing.');

    await page.getByRole('tabpanel').getByRole('button', { name: 'Delete' }).click();
    const asks = page.getByRole('dialog', { name: 'Delete artifact?' });
    await asks.getByRole('button', { name: 'Delete' }).click();
    await expect(list.getByRole('listitem')).toContainText(['pixel.png']);
    await expect(list.getByRole('listitem')).toHaveCount(1);
  });
});

test('versions can be selected, and shared artifacts appear in each session', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession({ name: 'Versions' });
  await api.put(id, 'plan.json', 'application/json', '{"steps":1}', 'first');
  await console.signIn(`/s/${id}`);
  await page.getByRole('button', { name: 'Side panel' }).click();
  await page.getByRole('tab', { name: 'Artifacts' }).click();
  await page.getByRole('button', { name: /plan\.json.*Version 1/ }).click();
  const content = page.getByTestId('artifact-content');
  await expect(content).toContainText('"steps": 1');

  await api.put(id, 'plan.json', 'application/json', '{"steps":2}', 'second');
  const version = page.getByRole('combobox', { name: 'Version' });
  await expect(version.getByRole('option')).toContainText([/^2 ·/, /^1 ·/]);
  await version.selectOption('1');
  await expect(content).toContainText('"steps": 2');

  await api.rewind(id, 'second');
  await expect(version.getByRole('option')).toContainText([
    /^3, restored from version 1 ·/,
    /^2 ·/,
    /^1 ·/,
  ]);
  await page.getByRole('button', { name: 'All artifacts' }).click();

  await page.getByLabel('For all my chats').check();
  await page.getByLabel('File to upload').setInputFiles({
    name: 'profile.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('Likes tiles.'),
  });
  await expect(page.getByRole('button', { name: /profile\.txt\s*all chats/ })).toBeVisible();
  const other = await api.createSession({ name: 'Another' });
  await console.openSession(other.id);
  await page.getByRole('button', { name: 'Side panel' }).click();
  await page.getByRole('tab', { name: 'Artifacts' }).click();
  await page.getByRole('button', { name: /profile\.txt/ }).click();
  await expect(content).toContainText('Likes tiles.');
});

test('executable content is shown only as text', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Trouble' });
  const script = '<script>document.title = "taken over"</script>';
  await api.put(id, 'page.html', 'text/html', `<h1>Hi</h1>${script}`, 'first');
  await api.put(id, 'tool.bin', 'application/octet-stream', 'MZ', 'third');
  await console.signIn(`/s/${id}`);
  const content = page.getByTestId('artifact-content');
  for (const [name, source] of [
    ['page.html', script],
    ['tool.bin', 'No preview is available'],
  ] as const) {
    await page.getByTestId('artifact-chip').filter({ hasText: name }).click();
    await expect(content).toContainText(source);
  }
  await expect(page).toHaveTitle(/^Trouble/);
});

test('a file can be dropped onto the panel', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Dropped' });
  await console.signIn(`/s/${id}`);
  await page.getByRole('button', { name: 'Side panel' }).click();
  await page.getByRole('tab', { name: 'Artifacts' }).click();
  const files = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['From the desk.'], 'letter.txt', { type: 'text/plain' }));
    return transfer;
  });
  const area = page.getByText('No artifacts yet.');
  await area.dispatchEvent('dragover', { dataTransfer: files });
  await area.dispatchEvent('drop', { dataTransfer: files });
  await expect(page.getByRole('button', { name: /letter\.txt.*Version 1/ })).toBeVisible();
  await expect(page.getByTestId('artifact-chip')).toContainText('letter.txt');
});
