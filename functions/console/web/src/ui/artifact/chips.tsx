// The artifact versions that a message has created, as buttons that open them.

import { Paperclip } from 'lucide-preact';
import { readable } from '../../store/artifacts';
import { useView } from '../context';
import type { MessageProps } from '../message/message';

export function ArtifactChips({ message }: MessageProps) {
  const { panel, artifact } = useView();
  const versions = Object.entries(message.event.actions?.artifact_delta ?? {});
  if (versions.length === 0) return null;
  return (
    <ul class="chips" aria-label="Artifacts">
      {versions.map(([name, version]) => (
        <li key={name}>
          <button
            type="button"
            class="chip"
            data-testid="artifact-chip"
            onClick={() => {
              artifact.value = { name, version };
              panel.value = 'artifacts';
            }}
          >
            <Paperclip size={14} aria-hidden="true" />
            <b dir="auto">{readable(name).label}</b>
            <span>version {version}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
