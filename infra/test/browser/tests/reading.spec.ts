// How answers are shown: code, formulas, footnotes.

import { expectAccessible } from '../support/accessible.ts';
import { ANSWER, errand, lesson } from '../support/reading.ts';
import { ALL, onScreens } from '../support/screens.ts';
import { expect, test } from '../support/test.ts';

onScreens(ALL, ({ width }) => {
  test('code is coloured, and formulas and footnotes are shown', async ({ console, api, page }) => {
    const id = await lesson(api);
    await console.signIn(`/s/${id}`);
    const answer = console.said('agent');
    const code = answer.locator('figure', { hasText: 'func Add' });
    await expect(code.locator('.hljs-keyword').first()).toHaveText('func');
    await expect(answer.locator('.hljs-attr').first()).toHaveText('"name"');
    await expect(answer.locator('math')).toHaveCount(4);
    await expect(answer).toContainText('It costs $5 and $10.');
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    await answer.locator('math').first().scrollIntoViewIfNeeded();
  });
});

test('a footnote and its place in the text lead to each other, and nowhere else', async ({
  console,
  api,
  page,
}) => {
  const id = await lesson(api);
  await api.say(id, ['Another?', 'Another[^1].\n\n[^1]: With a note of the same name.']);
  await console.signIn(`/s/${id}`);
  const address = page.url();
  const [first, second] = [console.said('agent').first(), console.said('agent').last()];
  const there = { name: 'Footnote 1', exact: true };
  const back = { name: 'Back to footnote 1 in the text' };
  await second.getByRole('button', there).click();
  await expect(second.getByRole('button', back)).toBeFocused();
  await page.getByTestId('thread').evaluate((thread) => thread.scrollTo(0, 0));
  await first.getByRole('button', there).click();
  await expect(first.getByText('its site')).toBeInViewport();
  await expect(first.getByRole('button', back)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(first.getByRole('button', there)).toBeInViewport();
  await expect(first.getByRole('button', there)).toBeFocused();
  expect(page.url()).toBe(address);
});

test('long lines of code are wrapped on demand, and code is copied as it is', async ({
  console,
  api,
  context,
  page,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await console.signIn(`/s/${await lesson(api)}`);
  const code = console.said('agent').locator('figure', { hasText: 'func Add' });
  const overflow = () => code.locator('pre').evaluate((pre) => pre.scrollWidth > pre.clientWidth);
  expect(await overflow()).toBe(true);
  const wrap = code.getByRole('button', { name: 'Wrap long lines' });
  await wrap.click();
  await expect(wrap).toHaveAttribute('aria-pressed', 'true');
  expect(await overflow()).toBe(false);
  await code.getByRole('button', { name: 'Copy code' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(ANSWER).toContain(`\`\`\`go\n${copied}\n\`\`\``);
});

onScreens(ALL, ({ width }) => {
  test('tool calls in a row are one group, of which a failure is shown', async ({
    console,
    api,
    page,
  }) => {
    await console.signIn(`/s/${await errand(api)}`);
    const group = page.getByTestId('calls');
    await expect(group).toHaveCount(1);
    await expect(group.locator('summary').first()).toContainText(
      /3 tool calls.*1 failed.*timetable, prices, weather.*\d+ (ms|s)/,
    );
    const tools = group.getByTestId('tool');
    await expect(tools).toHaveCount(1);
    await expect(tools).toContainText('No forecast.');
    await group.locator('summary').first().click();
    await expect(tools).toHaveCount(3);
    await expect(tools.nth(2)).toContainText('No forecast.');
    await tools.first().locator('summary').click();
    const all = tools.first().getByRole('button', { name: /Show all [\d,]+ characters/ });
    await expect(tools.first()).not.toContainText('Station 199');
    await all.click();
    await expect(tools.first()).toContainText('Station 199');
    await expect(tools.first().locator('.hljs-attr').first()).toBeVisible();
    await tools.first().locator('summary').click();
    await expect(page.getByTestId('tokens')).toHaveText('1,200 in · 345 out (tokens)');
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    await group.locator('summary').first().click();
    await expect(tools).toHaveCount(1);
  });
});

const DIAGRAM = `graph TD
  A[Ask] --> B{Known?}
  B -->|yes| C[Answer]
  B -->|no| D[Look it up]
  D --> C`;

onScreens(ALL, ({ width }) => {
  test('a diagram is drawn, with its source behind a button', async ({ console, api, page }) => {
    const { id } = await api.createSession({ name: 'Diagrams' });
    const pie = 'pie title Pets\n  "Dogs" : 3';
    const blocks = [DIAGRAM, pie].map((source) => `\`\`\`mermaid\n${source}\n\`\`\`\n`);
    await api.say(id, ['Draw it', `Here it is:\n\n${blocks.join('\n')}`]);
    await console.signIn(`/s/${id}`);
    const [figure, other] = [page.locator('figure').first(), page.locator('figure').nth(1)];
    const picture = figure.getByRole('img', { name: 'Diagram' });
    await expect
      .poll(() => picture.evaluate((img: HTMLImageElement) => img.naturalWidth))
      .toBeGreaterThan(0);
    await expect(other).toContainText('pie title Pets'); // of a type that is not drawn
    await expect(other.getByRole('button', { name: 'Show the source' })).toHaveCount(0);
    await expectAccessible(page);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    await figure.getByRole('button', { name: 'Show the source' }).click();
    await expect(figure.locator('pre')).toContainText('B{Known?}');
    await figure.getByRole('button', { name: 'Show the source' }).click();
    await picture.click();
    await expect(page.getByRole('dialog', { name: 'Diagram' }).getByRole('img')).toBeVisible();
    await page.keyboard.press('Escape');
  });
});
