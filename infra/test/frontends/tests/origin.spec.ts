// Clients in a page of another origin than the system's, in Chromium and in Firefox: each sends
// other headers, which the system has to allow, and reads others, which it has to expose.

import { expect, test } from '@playwright/test';
import puppeteer from 'puppeteer-core';
import type { System } from '../support/clients.ts';

const PAGE = `${process.env.PAGES_URL}clients/`;
const NAMES = 7;

type Clients = Record<string, (system: System, text: string) => Promise<string>>;

/** What each client gets as an answer in the page, or why it gets none. */
async function askAll(system: System): Promise<Record<string, string>> {
  const { clients } = globalThis as unknown as { clients: Clients };
  const asked = Object.entries(clients).map(async ([name, ask]) => {
    const text = await ask(system, 'hello').catch((error) => `${error.stack ?? error}`);
    return [name, text];
  });
  return Object.fromEntries(await Promise.all(asked));
}

async function system(user: string): Promise<System> {
  const url = process.env.RETHREAD_URL ?? '';
  const body = JSON.stringify({ user_id: user });
  const token = await (await fetch(`${url}/dev/token`, { method: 'POST', body })).json();
  expect(new URL(PAGE).origin).not.toBe(url);
  return { url, token: token.token };
}

function check(answers: Record<string, string>): void {
  const names = Object.keys(answers);
  expect(names.length).toBeGreaterThanOrEqual(NAMES);
  const wanted = names.map((name) => [name, 'You said: "hello" as message 1.']);
  expect(answers).toEqual(Object.fromEntries(wanted));
}

test('clients of another origin in Chromium', async ({ page }) => {
  await page.goto(PAGE);
  check(await page.evaluate(askAll, await system('origin-chromium')));
});

test('clients of another origin in Firefox', async () => {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
    headless: true,
    timeout: 120_000,
  });
  try {
    const page = await browser.newPage();
    await page.goto(PAGE);
    check(await page.evaluate(askAll, await system('origin-firefox')));
  } finally {
    await browser.close();
  }
});
