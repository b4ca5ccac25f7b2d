// The actions of the console itself.

import { Keyboard, LogOut, Monitor, Moon, PanelLeft, SquarePen, Sun } from 'lucide-preact';
import { useLocation } from 'wouter-preact';
import type { Theme } from '../../store/theme';
import { useApp, useView } from '../context';
import { openKeys } from '../keys/open';
import { toggleSidebar } from '../kit/sidebar';
import { SECTIONS } from '../settings/sections';
import type { PaletteEntry, PaletteGroup } from './entry';

const THEMES: readonly { theme: Theme; label: string; icon: typeof Sun }[] = [
  { theme: 'light', label: 'Light theme', icon: Sun },
  { theme: 'dark', label: 'Dark theme', icon: Moon },
  { theme: 'system', label: "The system's theme", icon: Monitor },
];

export function useAppActions(): PaletteGroup {
  const app = useApp();
  const view = useView();
  const [, navigate] = useLocation();
  const themes = THEMES.filter(({ theme }) => theme !== app.themes.theme.value).map(
    ({ theme, label, icon }): PaletteEntry => ({
      id: `theme ${theme}`,
      label,
      icon,
      words: 'appearance mode',
      run: () => {
        app.themes.theme.value = theme;
      },
    }),
  );
  return {
    title: 'Console',
    entries: [
      { id: 'new', label: 'New chat', icon: SquarePen, keys: 'new', run: () => navigate('/') },
      {
        id: 'sidebar',
        label: 'Show or hide the list of chats',
        icon: PanelLeft,
        keys: 'sidebar',
        words: 'sidebar fold chats',
        run: () => toggleSidebar(view),
      },
      {
        id: 'keys',
        label: 'Keys',
        icon: Keyboard,
        keys: 'help',
        words: 'shortcuts keyboard help',
        run: () => openKeys(view),
      },
      ...themes,
      ...SECTIONS.map(
        ({ id, title, icon }): PaletteEntry => ({
          id: `settings ${id}`,
          label: `Settings: ${title}`,
          icon,
          run: () => navigate(`/settings/${id}`),
        }),
      ),
      {
        id: 'sign out',
        label: 'Sign out',
        icon: LogOut,
        words: 'log off',
        run: () => {
          app.signOut();
          navigate('/');
        },
      },
    ],
  };
}
