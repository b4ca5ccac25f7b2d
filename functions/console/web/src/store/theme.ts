// Light, dark, or as the system has it. public/theme.js applies the choice before the first paint.

import { effect, signal } from '@preact/signals-core';

export type Theme = 'system' | 'light' | 'dark';

const KEPT = 'rethread.theme';

export class ThemeChoice {
  readonly theme = signal<Theme>(kept());

  constructor(root = document.documentElement) {
    effect(() => {
      const theme = this.theme.value;
      if (theme === 'system') {
        delete root.dataset.theme;
        localStorage.removeItem(KEPT);
      } else {
        root.dataset.theme = theme;
        localStorage.setItem(KEPT, theme);
      }
    });
  }
}

function kept(): Theme {
  const theme = localStorage.getItem(KEPT);
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}
