// The artifact versions that a message has created, as buttons that open them. Pictures are shown,
// unless the message itself contains them.

import { Paperclip } from 'lucide-preact';
import { readArtifact } from '../../api/artifacts';
import { readable, versionName } from '../../store/artifacts';
import { useApp, useView } from '../context';
import { lazy } from '../kit/lazy';
import type { MessageProps } from '../message/props';
import { isPictureName } from './kind';

const ArtifactPicture = lazy(() => import('./picture').then((m) => m.ArtifactPicture));

export function ArtifactChips({ chat, message }: MessageProps) {
  const { api } = useApp();
  const { panel, artifact } = useView();
  const versions = Object.entries(message.event.actions?.artifact_delta ?? {});
  if (versions.length === 0) return null;
  const inside = message.blocks.flatMap((block) =>
    block.kind === 'file' && block.data !== undefined ? block.name : [],
  );
  const pictures = versions.filter(([name]) => isPictureName(name) && !inside.includes(name));
  return (
    <>
      {pictures.map(([name, version]) => (
        <ArtifactPicture
          key={`${name} ${version}`}
          name={name}
          version={version}
          read={() => readArtifact(api, chat.id, name, version)}
        />
      ))}
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
              <span>{versionName(version)}</span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
