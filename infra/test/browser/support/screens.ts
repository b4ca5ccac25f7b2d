// The screens on which the main flows are played: three widths, light and dark.

import { type Page, test } from '@playwright/test';

export interface Screen {
  width: number;
  colorScheme: 'light' | 'dark';
  /** Whether the list of sessions is a drawer, and the side panel covers the chat. */
  narrow: boolean;
  /** Gives the page its width; people sign in on a wide one, where their name is shown. */
  resize: (page: Page) => Promise<void>;
  /** Opens the list of sessions, if it is a drawer. */
  openList: (page: Page) => Promise<void>;
}

const WIDTHS = [375, 1024, 1440];

const screen = (width: number, colorScheme: Screen['colorScheme']): Screen => {
  const narrow = width < 832;
  return {
    width,
    colorScheme,
    narrow,
    resize: (page) => page.setViewportSize({ width, height: 800 }),
    openList: async (page) => {
      if (narrow) await page.getByRole('button', { name: 'Sessions', exact: true }).click();
    },
  };
};

export const ALL = WIDTHS.flatMap((width) => [screen(width, 'light'), screen(width, 'dark')]);
/** For flows that take long. */
export const TWO = [screen(375, 'dark'), screen(1440, 'light')];

/** Defines tests for each screen; at their end, the page must be accessible there. */
export function onScreens(screens: readonly Screen[], define: (screen: Screen) => void): void {
  for (const one of screens) {
    const { width, colorScheme } = one;
    test.describe(`${width} pixels wide, ${colorScheme}`, () => {
      test.use({ colorScheme });
      define(one);
    });
  }
}
