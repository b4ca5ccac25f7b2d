// Files of a question, and pictures.

import type { Locator, Page } from '@playwright/test';
import { expectAccessible } from '../support/accessible.ts';
import { expect, test } from '../support/test.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40" onload="document.title=1"><script>document.title = "taken over"</script><rect width="80" height="40" fill="teal"/></svg>';

const text = (name: string, content: string) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(content),
});

const picture = { name: 'pixel.png', mimeType: 'image/png', buffer: Buffer.from(PIXEL, 'base64') };

const chips = (page: Page) => page.getByTestId('draft-file');

const send = (page: Page) => page.getByRole('button', { name: 'Send' }).click();

/** Whether the browser has decoded an image. */
const isDecoded = (image: Locator) =>
  expect.poll(() => image.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBeGreaterThan(0);

test('files go with the first question of a new chat', async ({ console, api, page }) => {
  await console.signIn();
  await page
    .getByLabel('Files to attach')
    .setInputFiles([text('notes.txt', 'Tiles.'), picture, text('more.txt', 'More.')]);
  await page.getByLabel('Files to attach').setInputFiles([text('notes.txt', 'Others.')]);
  await expect(chips(page)).toContainText(['notes.txt', 'pixel.png', 'more.txt', 'notes (2).txt']);
  await page.getByRole('button', { name: 'Remove more.txt' }).click();
  await page.getByRole('textbox', { name: 'Message' }).fill('What is this?');
  await expectAccessible(page);
  await send(page);
  await expect(console.said('user')).toContainText('What is this?');
  await console.waitFor('idle');
  await expect(chips(page)).toHaveCount(0);
  const artifacts = page.getByTestId('artifact-chip');
  await expect(artifacts).toContainText(['notes.txt', 'pixel.png', 'notes (2).txt']);
  const image = page.getByRole('img', { name: 'pixel.png' });
  await expect(image).toHaveCount(1);
  await isDecoded(image);
  const [question] = await api.events(console.sessionId);
  expect(question?.content?.parts).toHaveLength(4);

  await page.reload();
  await expect(artifacts).toHaveCount(3);
  await page.getByTitle('Enlarge').click();
  const dialog = page.getByRole('dialog', { name: 'pixel.png' });
  await isDecoded(dialog.getByRole('img'));
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
});

test('files are dropped or pasted, and one that fails keeps the others and the text', async ({
  console,
  api,
  page,
  faults,
}) => {
  const { id } = await api.createSession({ name: 'Drops' });
  await console.signIn(`/s/${id}`);
  await expect(console.chat).toHaveAttribute('aria-busy', 'false');
  const field = page.getByRole('textbox', { name: 'Message' });
  const transfer = (name: string, type: string) =>
    page.evaluateHandle(
      ([name, type]) => {
        const data = new DataTransfer();
        data.items.add(new File(['From the desk.'], name ?? '', { type: type ?? '' }));
        return data;
      },
      [name, type],
    );
  const thread = page.getByTestId('thread');
  const dataTransfer = await transfer('letter.txt', 'text/plain');
  await thread.dispatchEvent('dragover', { dataTransfer });
  await thread.dispatchEvent('drop', { dataTransfer });
  await expect(chips(page)).toContainText(['letter.txt']);
  const clipboard = await transfer('image.csv', 'text/csv');
  await field.evaluate((element, clipboardData) => {
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    element.dispatchEvent(event);
  }, clipboard);
  await expect(chips(page)).toContainText(['letter.txt', 'image.csv']);

  faults.allow(/status of 413/);
  await page.route('**/artifacts/image.csv*', (route) =>
    route.fulfill({ status: 413, json: { status: 413, title: 'Too large', detail: 'Too large.' } }),
  );
  await field.fill('Read them');
  await send(page);
  await expect(chips(page).nth(1)).toHaveAttribute('data-status', 'failed');
  await expect(chips(page).nth(0)).toHaveAttribute('data-status', 'stored');
  await expect(field).toHaveValue('Read them');
  await expect(console.said('user')).toHaveCount(0);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Remove image.csv' }).click();
  await send(page);
  await expect(console.said('user')).toContainText('Read them');
  await expect(page.getByTestId('artifact-chip')).toContainText(['letter.txt']);
  await expect(chips(page)).toHaveCount(0);
});

test('files that wait are kept while another chat is open', async ({ console, api, page }) => {
  const { id } = await api.createSession({ name: 'Trip' });
  await console.signIn();
  await page.getByLabel('Files to attach').setInputFiles([text('idea.txt', 'An idea.')]);
  await page.getByRole('link', { name: 'Trip' }).click();
  await expect(page).toHaveURL(new RegExp(id));
  await expect(chips(page)).toHaveCount(0);
  await page.getByRole('link', { name: 'New chat' }).click();
  await expect(chips(page)).toContainText(['idea.txt']);
});

test('pictures that an agent saves are shown, and an SVG runs nothing', async ({
  console,
  api,
  page,
}) => {
  const { id } = await api.createSession({ name: 'Charts' });
  await api.put(id, 'chart.svg', 'image/svg+xml', SVG, 'first');
  await console.signIn(`/s/${id}`);
  const image = page.getByTestId('message').getByRole('img', { name: 'chart.svg' });
  await isDecoded(image);
  expect(await image.getAttribute('src')).toMatch(/^blob:/);
  await page.getByTestId('artifact-chip').click();
  await isDecoded(page.getByTestId('artifact-content').getByRole('img', { name: 'chart.svg' }));
  await expect(page).toHaveTitle(/^Charts/);
  await expect(page.locator('svg script, svg[onload]')).toHaveCount(0);
});
