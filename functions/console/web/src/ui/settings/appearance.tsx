// The section "Appearance": the theme.

import type { Theme } from '../../store/theme';
import { useApp } from '../context';
import { Choices } from '../kit/field';
import { Section } from './section';

const THEMES = [
  { value: 'system', label: 'Like the system', hint: 'Follows the device, also when it changes.' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

export function Appearance() {
  const { themes } = useApp();
  const theme = themes.theme.value;
  return (
    <Section title="Appearance">
      <Choices
        key={theme}
        legend="Theme"
        name="theme"
        kind="radio"
        hint="It applies to this browser."
        choices={THEMES}
        chosen={[theme]}
        onChange={(value) => {
          themes.theme.value = value as Theme;
        }}
      />
    </Section>
  );
}
