// The console over a fake API, as a person uses it: the fixtures of the tests of components.

import '@testing-library/jest-dom/vitest';
import { configure, screen, waitFor, within } from '@testing-library/dom';
import { cleanup, render } from '@testing-library/preact';
import { type UserEvent, userEvent } from '@testing-library/user-event';
import { test as base, expect, vi } from 'vitest';
import { DevAuth } from '../../src/auth/dev';
import { BASE, type Prices } from '../../src/config';
import { App } from '../../src/store/app';
import { Console } from '../../src/ui/console';
import { equip } from './browser';
import { World } from './world';

const CONFIG = {
  watch_url: 'ws://watch',
  sign_in: { kind: 'dev', token_url: `${location.origin}/dev/token` },
} as const;

configure({
  asyncUtilTimeout: 20_000, // a busy machine; only what never comes takes so long
  defaultHidden: true, // there are no styles: what is not shown is not in the document
});

interface Opening {
  narrow?: boolean;
  signedIn?: boolean;
  prices?: Prices;
  trace_url?: string;
}

export class Page {
  readonly api: World;
  readonly user: UserEvent;
  app: App | undefined;

  constructor(api: World, user: UserEvent) {
    this.api = api;
    this.user = user;
  }

  /** Opens an address of the console, also a second time, as after a reload. */
  open(path = '/', { narrow = false, signedIn = true, prices, trace_url }: Opening = {}): void {
    this.leave();
    if (signedIn) localStorage.setItem('rethread.user', 'alice');
    vi.stubGlobal('fetch', this.api.fetch);
    vi.stubGlobal('WebSocket', this.api.WebSocket);
    equip({ narrow });
    history.replaceState(null, '', BASE + path);
    const config = { ...CONFIG, ...(prices && { prices }), ...(trace_url && { trace_url }) };
    this.app = new App(config, new DevAuth(CONFIG.sign_in.token_url));
    render(<Console app={this.app} />);
  }

  reload(): void {
    this.open(this.path);
  }

  /** Opens a session, and waits until it is shown. */
  async openSession(id: string): Promise<void> {
    this.open(`/s/${id}`);
    await waitFor(() => expect(screen.getByTestId('chat')).toHaveAttribute('aria-busy', 'false'));
  }

  /** Closes the page, and forgets the tab's user, who stays signed in. */
  leave(): void {
    cleanup();
    const user = localStorage.getItem('rethread.user');
    this.app?.auth.signOut();
    if (user !== null) localStorage.setItem('rethread.user', user);
    this.app = undefined;
  }

  /** The address within the console. */
  get path(): string {
    return location.pathname.slice(BASE.length) + location.search;
  }

  async click(role: string, name: string | RegExp): Promise<void> {
    await this.user.click(await screen.findByRole(role, { name }));
  }

  /** Fills a field anew. */
  async fill(name: string | RegExp, text: string, role = 'textbox'): Promise<void> {
    const field = await screen.findByRole(role, { name });
    await this.user.clear(field);
    if (text) {
      await this.user.click(field);
      await this.user.paste(text);
    }
  }

  /** Sends a question. */
  async ask(text: string): Promise<void> {
    await this.fill('Message', text);
    await this.user.keyboard('{Enter}');
  }

  /** Opens a dialog from the menu of the open chat. */
  async choose(item: string): Promise<void> {
    await this.click('button', 'Chat options');
    await this.click('menuitem', item);
  }

  /** The texts of one role in the conversation. */
  said(role: 'user' | 'agent'): string[] {
    const bodies = document.querySelectorAll(`[data-testid=message][data-role=${role}]`);
    return [...bodies].map(
      (one) =>
        within(one as HTMLElement)
          .getByTestId('body')
          .textContent?.trim() ?? '',
    );
  }
}

/** A test with a page that is not opened yet. At its end, the fake must have known all requests. */
export const test = base.extend<{ page: Page; api: World }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of fixtures from the pattern
  api: async ({}, use) => use(new World()),
  page: async ({ api }, use) => {
    const errors = vi.spyOn(console, 'error');
    const page = new Page(api, userEvent.setup({ delay: null }));
    await use(page);
    page.leave();
    expect(api.unknown, 'requests that the fake does not know').toEqual([]);
    expect(errors.mock.calls, 'errors').toEqual([]);
    vi.useRealTimers();
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    localStorage.clear();
    sessionStorage.clear();
    history.replaceState(null, '', '/');
  },
});

export { expect, screen, vi, waitFor, within };
