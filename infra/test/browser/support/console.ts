// The console in one tab, as a user sees and operates it.

import { expect, type Locator, type Page } from '@playwright/test';
import { type Bubble, bubbles } from './bubbles.ts';

export type Status = 'idle' | 'in_progress' | 'failed';

export class Console {
  readonly page: Page;
  readonly url: string;
  readonly user: string;

  constructor(page: Page, url: string, user: string) {
    this.page = page;
    this.url = url;
    this.user = user;
  }

  /** Opens an address of the console. */
  async open(path = ''): Promise<void> {
    await this.page.goto(`${this.url}/console${path}`);
  }

  /** Opens the console, or an address of it, as the test's user, who has signed in before. */
  async signIn(path = ''): Promise<void> {
    const remembered = await this.page.addInitScript(
      (name) => localStorage.setItem('rethread.user', name),
      this.user,
    );
    await this.open(path);
    await this.page.locator('.layout').waitFor();
    await remembered.dispose();
  }

  /** Fills in the form of the sign-in. */
  async fillIn(): Promise<void> {
    await this.page.getByLabel('Your name').fill(this.user);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** Opens a session and waits until it is shown. */
  async openSession(id: string): Promise<void> {
    await this.open(`/s/${encodeURIComponent(id)}`);
    await expect(this.chat).toHaveAttribute('aria-busy', 'false');
  }

  /** Sends a question as soon as possible, and waits until it is shown and the server has accepted it. */
  async ask(text: string): Promise<void> {
    await this.page.getByRole('textbox', { name: 'Message' }).fill(text);
    // The answer may be complete before the response to the request arrives.
    await expect(this.page.getByRole('button', { name: 'Send' })).toBeEnabled();
    await this.page.keyboard.press('Enter');
    await expect(this.said('user').last()).toHaveText(text);
    await expect(this.page.locator('[data-invocation=pending]')).toHaveCount(0);
  }

  /** Retries a failed run, and waits until the new run is shown in its place. */
  async tryAgain(): Promise<void> {
    const failed = (await this.bubbles()).at(-1)?.invocation;
    await this.page.getByRole('button', { name: 'Try again' }).click();
    await expect(this.page.locator(`[data-invocation="${failed}"]`)).toHaveCount(0);
    await expect(this.page.locator('[data-invocation=pending]')).toHaveCount(0);
  }

  /**
   * Waits until no question is being sent, the session has a status and, if no run is in progress, each
   * message its final form.
   */
  async waitFor(status: Status | RegExp): Promise<void> {
    await expect(this.page.locator('[data-invocation=pending]')).toHaveCount(0);
    await expect(this.chat).toHaveAttribute('data-status', status);
    if (status === 'in_progress') return;
    // The status may arrive before the end of the last message.
    await expect(this.page.locator('[data-testid=message][data-status=in_progress]')).toHaveCount(
      0,
    );
  }

  /** The texts of one role. */
  said(role: 'user' | 'agent'): Locator {
    return this.page.locator(`[data-testid=message][data-role=${role}] [data-testid=body]`);
  }

  bubbles(): Promise<Bubble[]> {
    return bubbles(this.page);
  }

  get chat(): Locator {
    return this.page.getByTestId('chat');
  }

  /** Id of the session shown in the tab. */
  get sessionId(): string {
    const id = /\/s\/([^/?#]+)/.exec(this.page.url())?.[1];
    if (id === undefined) throw new Error(`${this.page.url()} shows no session`);
    return decodeURIComponent(id);
  }
}
