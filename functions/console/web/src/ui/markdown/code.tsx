// A code block with its language, and buttons to wrap long lines and to copy. A diagram is drawn once
// its source is complete.

import { Check, CodeXml, Copy, WrapText } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { IconButton } from '../kit/icon-button';
import { lazy } from '../kit/lazy';
import { Coloured } from './coloured';

const Picture = lazy(() => import('../kit/picture').then((m) => m.Picture));

interface Props {
  language: string;
  text: string;
  growing?: boolean;
}

export function CodeBlock({ language, text, growing = false }: Props) {
  const [wraps, setWraps] = useState(false);
  const [asSource, setAsSource] = useState(false);
  const diagram = useDiagram(language === 'mermaid' && !growing ? text : '');
  const drawn = diagram !== '' && !asSource;
  return (
    <figure class="code" dir="ltr" data-wraps={wraps}>
      <figcaption>
        <span>{language || 'text'}</span>
        {diagram !== '' && (
          <IconButton
            icon={CodeXml}
            label="Show the source"
            size={15}
            aria-pressed={asSource}
            onClick={() => setAsSource(!asSource)}
          />
        )}
        {!drawn && (
          <IconButton
            icon={WrapText}
            label="Wrap long lines"
            size={15}
            aria-pressed={wraps}
            onClick={() => setWraps(!wraps)}
          />
        )}
        <CopyButton text={text} />
      </figcaption>
      {drawn ? (
        <Picture src={diagram} name="Diagram" />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <pre tabIndex={0}>
          <Coloured language={language} text={text} growing={growing} />
        </pre>
      )}
    </figure>
  );
}

/** The address of the picture of a diagram; '' until it is drawn, and if it cannot be. */
function useDiagram(source: string): string {
  const [drawn, setDrawn] = useState({ source: '', url: '' });
  useEffect(() => {
    if (source === '') return;
    let current = true;
    import('./diagram')
      .then(({ draw }) => draw(source))
      .then((url) => current && setDrawn({ source, url }))
      .catch(() => {}); // it is not a diagram that can be drawn: its source is shown
    return () => {
      current = false;
    };
  }, [source]);
  return drawn.source === source ? drawn.url : '';
}

function CopyButton({ text }: { text: string }) {
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
    <IconButton
      icon={copied ? Check : Copy}
      label={copied ? 'Copied' : 'Copy code'}
      size={15}
      onClick={() => void copy()}
    />
  );
}
