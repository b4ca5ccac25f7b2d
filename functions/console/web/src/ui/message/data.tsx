// Arguments or a result of a tool call. Of a long one only the beginning is shown at first.

import { useState } from 'preact/hooks';
import { Coloured } from '../markdown/coloured';

const LONG = 2000; // characters

interface Props {
  label: string;
  /** JSON, or other text. */
  text: string;
  coloured: boolean;
}

export function Data({ label, text, coloured }: Props) {
  const [all, setAll] = useState(false);
  const cut = !all && text.length > LONG + LONG / 4;
  return (
    <div class="data">
      <p class="fold-label">{label}</p>
      <pre>
        <Coloured language={coloured ? 'json' : ''} text={cut ? `${text.slice(0, LONG)}…` : text} />
      </pre>
      {cut && (
        <button type="button" class="button small" onClick={() => setAll(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
    </div>
  );
}
