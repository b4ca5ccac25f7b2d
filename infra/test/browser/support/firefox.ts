// The console in the system's Firefox, by WebDriver BiDi: Playwright has a Firefox of its own, which is
// not the one that people use.

import { expect } from '@playwright/test';
import puppeteer, { type Browser, type ElementHandle, type Page } from 'puppeteer-core';

const TIMEOUT = 60_000; // milliseconds

/** Starts the browser. */
export function startFirefox(): Promise<Browser> {
  return puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
    headless: true,
    defaultViewport: null,
    timeout: 4 * TIMEOUT,
  });
}

export class Firefox {
  readonly page: Page;
  /** Uncaught errors of the page. */
  readonly faults: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.setDefaultTimeout(TIMEOUT);
    page.on('pageerror', (error) => this.faults.push(String(error)));
  }

  /** Opens a tab that shares nothing with others. */
  static async open(browser: Browser, width: number): Promise<Firefox> {
    const page = await (await browser.createBrowserContext()).newPage();
    await page.setViewport({ width, height: 800 });
    return new Firefox(page);
  }

  /** Opens an address and signs in with any name. */
  async signIn(address: string, user: string): Promise<void> {
    await this.page.goto(address);
    await this.page.locator('input[name=name]').fill(user);
    await this.page.locator('.sign-in button[type=submit]').click();
    await this.page.waitForSelector('textarea[aria-label=Message]');
  }

  /** Sends a question, and waits until it is shown. */
  async ask(text: string): Promise<void> {
    await this.page.locator('textarea[aria-label=Message]').fill(text);
    await this.page.keyboard.press('Enter');
    await expect.poll(async () => (await this.said('user')).at(-1)).toBe(text);
  }

  /** Waits until the session is idle and all messages are complete. */
  async settled(): Promise<void> {
    await this.page.waitForFunction(() => !document.querySelector('[data-invocation=pending]'));
    await this.page.waitForSelector('[data-testid=chat][data-status=idle]');
    await this.page.waitForFunction(
      () => !document.querySelector('[data-testid=message][data-status=in_progress]'),
    );
  }

  /** Chooses from the menu of the message that contains a text. */
  async menu(text: string, item: string): Promise<void> {
    const message = await this.find('[data-testid=message]', text);
    await message.hover();
    await (await message.$('button[aria-label=More]'))?.click();
    await (await this.find('[role=menuitem]', item)).click();
  }

  /** Presses the button of the open dialog that sends it. */
  submit(): Promise<void> {
    return this.page.locator('dialog[open] button[type=submit]').click();
  }

  /** The first element for a selector that contains a text, once it is there. */
  async find(selector: string, text: string): Promise<ElementHandle<Element>> {
    const found = await this.page.waitForFunction(
      (all, wanted) =>
        [...document.querySelectorAll(all)].find((one) => one.textContent?.includes(wanted)),
      {},
      selector,
      text,
    );
    return found as ElementHandle<Element>;
  }

  /** The texts of one role. */
  said(role: 'user' | 'agent'): Promise<string[]> {
    const selector = `[data-testid=message][data-role=${role}] [data-testid=body]`;
    return this.page.$$eval(selector, (all) => all.map((body) => body.textContent ?? ''));
  }
}
