// One artifact: its versions, and the content and actions of the selected one.

import { ArrowLeft, Download, Trash2 } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import type { ArtifactVersion } from '../../api/types';
import { type Artifacts, readable, restoredFrom, versionName } from '../../store/artifacts';
import { useApp, useView } from '../context';
import { IconButton } from '../kit/icon-button';
import { exact } from '../kit/time';
import { DeleteArtifact } from './delete';
import { download } from './download';
import { sizeOf } from './kind';
import { Preview } from './preview';

interface Props {
  artifacts: Artifacts;
  name: string;
  version: number;
  /** Whether the session is the user's own. */
  own: boolean;
}

export function ArtifactDetail({ artifacts, name, version, own }: Props) {
  const { artifact, dialog } = useView();
  const versions = useVersions(artifacts, name);
  const shown = versions?.find((one) => one.version === version);
  const { label } = readable(name);
  const close = () => {
    artifact.value = null;
  };
  return (
    <section class="artifact" aria-label={label}>
      <header>
        <IconButton icon={ArrowLeft} label="All artifacts" onClick={close} />
        <h2 dir="auto">{label}</h2>
        {shown && <DownloadButton artifacts={artifacts} shown={shown} />}
        {own && artifacts.list.value?.some((one) => one.name === name) && (
          <IconButton
            icon={Trash2}
            label="Delete"
            onClick={() => {
              dialog.value = <DeleteArtifact artifacts={artifacts} name={name} done={close} />;
            }}
          />
        )}
      </header>
      {versions && versions.length > 0 && (
        <label class="artifact-version">
          <span>Version</span>
          <select
            class="field"
            value={String(version)}
            onChange={({ currentTarget }) => {
              artifact.value = { name, version: Number(currentTarget.value) };
            }}
          >
            {versions.map((one) => (
              <option key={one.version} value={String(one.version)}>
                {describe(one)}
              </option>
            ))}
          </select>
        </label>
      )}
      {shown && (
        <div class="artifact-content" data-testid="artifact-content">
          <p class="hint">
            {shown.mime_type} · {sizeOf(shown.size)}
          </p>
          <Preview version={shown} read={() => artifacts.read(name, version)} />
        </div>
      )}
      {versions && !shown && <p class="hint">There is no {versionName(version)}.</p>}
    </section>
  );
}

function DownloadButton({ artifacts, shown }: { artifacts: Artifacts; shown: ArtifactVersion }) {
  const { toasts } = useApp();
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      download(await artifacts.read(shown.name, shown.version), readable(shown.name).label);
    } catch (error) {
      toasts.fail(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <IconButton icon={Download} label="Download" disabled={busy} onClick={() => void save()} />
  );
}

/** The versions; null until loaded. */
function useVersions(artifacts: Artifacts, name: string): ArtifactVersion[] | null {
  const { toasts } = useApp();
  const [versions, setVersions] = useState<ArtifactVersion[] | null>(null);
  useEffect(() => {
    let current = true;
    artifacts.versions(name).then(
      (read) => current && setVersions(read),
      (error) => current && toasts.fail(error),
    );
    return () => {
      current = false;
    };
  }, [artifacts, name, toasts, artifacts.revision.value]);
  return versions;
}

function describe(version: ArtifactVersion): string {
  const from = restoredFrom(version);
  const how = from === null ? '' : `, restored from ${versionName(from)}`;
  return `${version.version + 1}${how} · ${exact(version.created_time)}`;
}
