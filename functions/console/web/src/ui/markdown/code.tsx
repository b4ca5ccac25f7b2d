// A code block with a copy button.

import { Check, Copy } from 'lucide-preact';
import { useState } from 'preact/hooks';
import { IconButton } from '../kit/icon-button';

export function CodeBlock({ language, text }: { language: string; text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      setCopied(false); // the browser does not allow it; the code can still be selected
    }
  };
  return (
    <figure class="code" dir="ltr">
      <figcaption>
        {language || 'text'}
        <IconButton
          icon={copied ? Check : Copy}
          label={copied ? 'Copied' : 'Copy code'}
          size={15}
          onClick={() => void copy()}
        />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
