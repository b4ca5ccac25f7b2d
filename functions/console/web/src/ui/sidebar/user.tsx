// The signed-in user, the way to the settings, and the theme.

import { CircleUser, LogOut, Monitor, Moon, Settings, Sun } from 'lucide-preact';
import { Link, useLocation } from 'wouter-preact';
import type { Theme } from '../../store/theme';
import { useApp, useView } from '../context';
import { IconButton } from '../kit/icon-button';

const THEMES = {
  system: { icon: Monitor, label: 'Theme: system', next: 'light' },
  light: { icon: Sun, label: 'Theme: light', next: 'dark' },
  dark: { icon: Moon, label: 'Theme: dark', next: 'system' },
} as const;

export function UserMenu() {
  const app = useApp();
  const { auth, themes } = app;
  const { drawer } = useView();
  const [, navigate] = useLocation();
  const { icon, label, next } = THEMES[themes.theme.value];
  return (
    <footer class="account">
      <CircleUser size={20} aria-hidden="true" />
      <span class="account-name" dir="auto" data-testid="user" title={auth.user.value?.name}>
        {auth.user.value?.name}
      </span>
      <Link
        href="/settings/appearance"
        class="icon-button"
        aria-label="Settings"
        title="Settings"
        onClick={() => {
          drawer.value = false;
        }}
      >
        <Settings size={18} aria-hidden="true" />
      </Link>
      <IconButton
        icon={icon}
        label={label}
        onClick={() => {
          themes.theme.value = next satisfies Theme;
        }}
      />
      <IconButton
        icon={LogOut}
        label="Sign out"
        onClick={() => {
          app.signOut();
          navigate('/');
        }}
      />
    </footer>
  );
}
