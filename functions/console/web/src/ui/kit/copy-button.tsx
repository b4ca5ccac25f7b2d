// A button that copies a text.

import { Check, Copy } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { useApp } from '../context';

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const { toasts } = useApp();
  const [copied, setCopied] = useState('');
  const done = copied === text;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(text);
    } catch {
      toasts.fail('The browser does not allow copying.');
    }
  };
  const Icon = done ? Check : Copy;
  return (
    <button type="button" class="button small" onClick={() => void copy()}>
      <Icon size={15} aria-hidden="true" />
      <span role="status">{done ? 'Copied' : label}</span>
    </button>
  );
}
