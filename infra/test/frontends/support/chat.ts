// A page of docs/frontends.md as a user sees it.

import { expect, type Locator, type Page } from '@playwright/test';

/** Where a page has what. */
export interface Look {
  input(page: Page): Locator;
  send(page: Page): Locator;
  stop(page: Page): Locator;
  said(page: Page, by: 'user' | 'assistant'): Locator;
  edit(page: Page, text: string): Promise<void>;
  regenerate(page: Page): Promise<void>;
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Answers the dialogue that an action opens. */
async function inDialogue(page: Page, text: string, act: () => Promise<void>): Promise<void> {
  page.once('dialog', (dialog) => dialog.accept(text));
  await act();
}

export const PLAIN: Look = {
  input: (page) => page.getByLabel('Message', { exact: true }),
  send: (page) => button(page, 'Send'),
  stop: (page) => button(page, 'Stop'),
  said: (page, by) => page.locator(`[data-role=${by}] p, p[data-role=${by}]`),
  edit: (page, text) => inDialogue(page, text, () => button(page, 'Edit').last().click()),
  regenerate: (page) => button(page, 'Regenerate').last().click(),
};

export const ASSISTANT_UI: Look = {
  ...PLAIN,
  edit: async (page, text) => {
    await button(page, 'Edit').last().click();
    await page.getByLabel('Edited message').fill(text);
    await button(page, 'Save').click();
  },
};

export const COPILOTKIT: Look = {
  input: (page) => page.getByTestId('copilot-chat-textarea'),
  send: (page) => page.getByTestId('copilot-send-button'),
  stop: (page) => page.locator('[data-copilot-running=true]').getByTestId('copilot-send-button'),
  said: (page, by) => page.getByTestId(`copilot-${by}-message`),
  edit: async (page, text) => {
    await page.getByTestId('copilot-user-message').last().hover();
    const edit = page.getByTestId('copilot-edit-button').last();
    await inDialogue(page, text, () => edit.click());
  },
  regenerate: async (page) => {
    await page.getByTestId('copilot-assistant-message').last().hover();
    await page.getByTestId('copilot-regenerate-button').last().click();
  },
};

export class Chat {
  readonly page: Page;
  readonly #folder: string;
  readonly #look: Look;

  constructor(page: Page, folder: string, look: Look) {
    this.page = page;
    this.#folder = folder;
    this.#look = look;
  }

  /** Opens the page with a thread, or with a new one. */
  async open(thread = ''): Promise<void> {
    await this.page.goto(`${process.env.PAGES_URL}${this.#folder}/${thread && `#${thread}`}`);
    await expect(this.#look.input(this.page)).toBeVisible();
  }

  /** Opens the same thread in another tab. */
  async inNewTab(): Promise<Chat> {
    const tab = new Chat(await this.page.context().newPage(), this.#folder, this.#look);
    await tab.open(this.thread);
    return tab;
  }

  async ask(text: string): Promise<void> {
    await this.#look.input(this.page).fill(text);
    await this.#look.send(this.page).click();
  }

  stop(): Promise<void> {
    return this.#look.stop(this.page).click();
  }

  approve(): Promise<void> {
    return this.approval.click();
  }

  get approval(): Locator {
    return button(this.page, 'Approve');
  }

  edit(text: string): Promise<void> {
    return this.#look.edit(this.page, text);
  }

  regenerate(): Promise<void> {
    return this.#look.regenerate(this.page);
  }

  get thread(): string {
    return new URL(this.page.url()).hash.slice(1);
  }

  get note(): Locator {
    return this.page.getByLabel('Note');
  }

  said(by: 'user' | 'assistant'): Locator {
    return this.#look.said(this.page, by);
  }

  /** Waits until the page no longer offers to stop. */
  async ended(): Promise<void> {
    const all = () =>
      this.#look
        .stop(this.page)
        .evaluateAll((buttons) => buttons.every((b) => b.matches(':disabled')));
    await expect.poll(all).toBe(true);
  }
}
