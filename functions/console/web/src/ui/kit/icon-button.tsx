// A button that is an icon; its label is read aloud and shown as a tooltip.

import type { LucideIcon } from 'lucide-preact';
import type { ButtonHTMLAttributes } from 'preact';

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'label'> {
  icon: LucideIcon;
  label: string;
  size?: number;
}

export function IconButton({ icon: Icon, label, size = 18, class: name = '', ...rest }: Props) {
  return (
    <button type="button" aria-label={label} title={label} {...rest} class={`icon-button ${name}`}>
      <Icon size={size} aria-hidden="true" />
    </button>
  );
}
