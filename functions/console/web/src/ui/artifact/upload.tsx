// Uploads files chosen with the button or dropped onto the panel.

import { Upload } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type Artifacts, readable, versionName } from '../../store/artifacts';
import { useApp } from '../context';

interface Props {
  artifacts: Artifacts;
  /** Whether a file can be put where all of the user's sessions see it. */
  shareable: boolean;
  children: ComponentChildren;
}

export function UploadArea({ artifacts, shareable, children }: Props) {
  const { toasts } = useApp();
  const [busy, setBusy] = useState(false);
  const [over, setOver] = useState(false);
  const [shared, setShared] = useState(false);
  const [status, setStatus] = useState('');
  const input = useRef<HTMLInputElement>(null);

  const take = async (files: FileList | null | undefined) => {
    if (busy || !files) return;
    setBusy(true);
    for (const file of files) {
      try {
        const { name, version } = await artifacts.upload(file, shared);
        setStatus(`${readable(name).label} uploaded as ${versionName(version)}.`);
      } catch (error) {
        toasts.fail(error);
      }
    }
    setBusy(false);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is an alternative to the button
    <div
      class="upload-area"
      data-over={over}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void take(event.dataTransfer?.files);
      }}
    >
      <div class="upload">
        <button
          type="button"
          class="button small"
          disabled={busy}
          aria-busy={busy}
          onClick={() => input.current?.click()}
        >
          <Upload size={15} aria-hidden="true" />
          Upload
        </button>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label="File to upload"
          onChange={({ currentTarget }) => {
            void take(currentTarget.files).then(() => {
              if (input.current) input.current.value = ''; // allows choosing the same file again
            });
          }}
        />
        {shareable && (
          <label>
            <input
              type="checkbox"
              checked={shared}
              onChange={({ currentTarget }) => setShared(currentTarget.checked)}
            />
            For all my chats
          </label>
        )}
      </div>
      <p class="hidden" role="status">
        {status}
      </p>
      {children}
    </div>
  );
}
