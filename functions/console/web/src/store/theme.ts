// The theme: light, dark, or the system's. public/theme.js applies it before the first paint.

import { effect, signal } from '@preact/signals-core';

export type Theme = 'system' | 'light' | 'dark';

const STORAGE_KEY = 'rethread.theme';

export class ThemeChoice {
  readonly theme = signal<Theme>(storedTheme());

  constructor(root = document.documentElement) {
    effect(() => {
      const theme = this.theme.value;
      if (theme === 'system') {
        delete root.dataset.theme;
        localStorage.removeItem(STORAGE_KEY);
      } else {
        root.dataset.theme = theme;
        localStorage.setItem(STORAGE_KEY, theme);
      }
    });
    addEventListener('storage', ({ key }) => {
      if (key === STORAGE_KEY || key === null) this.theme.value = storedTheme(); // another tab's choice
    });
  }
}

function storedTheme(): Theme {
  const theme = localStorage.getItem(STORAGE_KEY);
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}
