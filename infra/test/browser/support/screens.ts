// The screens on which flows are played whose steps depend on the screen: narrow and dark, wide and light.

import { type Page, test } from '@playwright/test';

export interface Screen {
  width: number;
  colorScheme: 'light' | 'dark';
  /** Whether the list of sessions is a drawer, and the side panel covers the chat. */
  narrow: boolean;
  /** Gives another page the width. */
  resize: (page: Page) => Promise<void>;
  /** Opens the list of sessions, if it is a drawer. */
  openList: (page: Page) => Promise<void>;
}

const screen = (width: number, colorScheme: Screen['colorScheme']): Screen => {
  const narrow = width < 832;
  return {
    width,
    colorScheme,
    narrow,
    resize: (page) => page.setViewportSize({ width, height: 800 }),
    openList: async (page) => {
      if (narrow) await page.getByRole('button', { name: 'Chats', exact: true }).click();
    },
  };
};

/**
 * Where the list is a drawer, and where list, chat and panel are side by side. What is between them,
 * and each in the other colours, is seen by every-view.spec.ts.
 */
export const ALL = [screen(375, 'dark'), screen(1440, 'light')];

/** Defines tests for each screen; at their end, the page must be accessible there. */
export function onScreens(screens: readonly Screen[], define: (screen: Screen) => void): void {
  for (const one of screens) {
    const { width, colorScheme } = one;
    test.describe(`${width} pixels wide, ${colorScheme}`, () => {
      test.use({ colorScheme, viewport: { width, height: 800 } });
      define(one);
    });
  }
}
