// The tab "Artifacts": files of the session, and those shared by the user's sessions.

import { useEffect, useMemo } from 'preact/hooks';
import { Artifacts } from '../../store/artifacts';
import type { Chat } from '../../store/chat';
import { ArtifactDetail } from '../artifact/detail';
import { ArtifactList } from '../artifact/list';
import { UploadArea } from '../artifact/upload';
import { useApp, useView } from '../context';

export function ArtifactsPanel({ chat }: { chat: Chat }) {
  const { api, toasts } = useApp();
  const { artifact } = useView();
  const artifacts = useMemo(() => new Artifacts(api, chat), [api, chat]);
  useEffect(() => artifacts.follow((error) => toasts.fail(error)), [artifacts, toasts]);
  const open = artifact.value;
  if (open) {
    const { name, version } = open;
    const { own } = chat.rights.value;
    return (
      <ArtifactDetail key={name} artifacts={artifacts} name={name} version={version} own={own} />
    );
  }
  const list = artifacts.list.value;
  const shown = list ? <ArtifactList list={list} /> : <p class="hint">Loading…</p>;
  const { write, own } = chat.rights.value;
  if (!write) return shown;
  return (
    <UploadArea artifacts={artifacts} shareable={own}>
      {shown}
    </UploadArea>
  );
}
