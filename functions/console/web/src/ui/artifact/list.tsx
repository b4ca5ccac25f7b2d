// The artifacts of a session, by name.

import { File, FileJson, FileText, Image, type LucideIcon } from 'lucide-preact';
import type { ArtifactVersion } from '../../api/types';
import { readable } from '../../store/artifacts';
import { useView } from '../context';
import { exact } from '../kit/time';
import { type Kind, kindOf, sizeOf } from './kind';

const ICONS: Record<Kind, LucideIcon> = {
  picture: Image,
  markdown: FileText,
  json: FileJson,
  text: FileText,
  other: File,
};

export function ArtifactList({ list }: { list: readonly ArtifactVersion[] }) {
  if (list.length === 0) return <p class="hint">No artifacts yet.</p>;
  return (
    <ul class="artifacts" aria-label="Artifacts">
      {list.map((version) => (
        <ArtifactRow key={version.name} version={version} />
      ))}
    </ul>
  );
}

function ArtifactRow({ version: { name, version, mime_type, size, created_time } }: RowProps) {
  const { artifact } = useView();
  const { label, shared } = readable(name);
  const Icon = ICONS[kindOf(mime_type, name)];
  return (
    <li>
      <button
        type="button"
        onClick={() => {
          artifact.value = { name, version };
        }}
      >
        <Icon size={20} aria-hidden="true" />
        <span class="artifact-name">
          <bdi>{label}</bdi>
          {shared && <span class="badge">all chats</span>}
        </span>
        <small>
          Version {version + 1} · {sizeOf(size)} · {exact(created_time)}
        </small>
      </button>
    </li>
  );
}

interface RowProps {
  version: ArtifactVersion;
}
