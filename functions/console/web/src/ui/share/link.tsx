// The address of a new link, which is shown only once.

import { Copy } from 'lucide-preact';
import { useEffect, useRef } from 'preact/hooks';
import { useCopy } from '../kit/copy';

export function NewLink({ url }: { url: string }) {
  const copy = useCopy();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
    field.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <section class="share-link" aria-labelledby="share-link-title">
      <h3 id="share-link-title">Copy the link now</h3>
      <p id="share-link-hint">
        It is shown only this once, since it is a secret that is not stored. Everyone who has it and
        signs in can accept it.
      </p>
      <div class="share-copy">
        <input
          ref={field}
          class="field"
          readOnly
          value={url}
          aria-label="Link"
          aria-describedby="share-link-hint"
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <button type="button" class="button primary" onClick={() => void copy(url)}>
          <Copy size={16} aria-hidden="true" />
          Copy
        </button>
      </div>
    </section>
  );
}
