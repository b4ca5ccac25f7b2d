// The content of an artifact version.

import { useEffect, useState } from 'preact/hooks';
import type { ArtifactVersion } from '../../api/types';
import { Markdown } from '../markdown/markdown';
import { type Kind, kindOf } from './kind';
import { ArtifactPicture } from './picture';

const LONGEST = 200_000; // bytes of text that are shown

interface Props {
  version: ArtifactVersion;
  read: () => Promise<Blob>;
}

export function Preview({ version, read }: Props) {
  const kind = kindOf(version.mime_type, version.name);
  if (kind === 'other') return <p class="hint">No preview is available for this type of file.</p>;
  if (kind === 'picture') {
    return <ArtifactPicture name={version.name} version={version.version} read={read} />;
  }
  return <Text version={version} read={read} kind={kind} />;
}

function Text({ version, read, kind }: Props & { kind: Kind }) {
  const text = useContent(version, read, (blob) => blob.slice(0, LONGEST).text());
  if (text.error) return <p class="hint">{text.error}</p>;
  if (text.value === undefined) return <p class="hint">Loading…</p>;
  const cut = version.size > LONGEST;
  return (
    <>
      {kind === 'markdown' ? (
        <Markdown text={text.value} />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
        <pre tabIndex={0}>{kind === 'json' && !cut ? pretty(text.value) : text.value}</pre>
      )}
      {cut && <p class="hint">Only the beginning is shown. Download the file to see all of it.</p>}
    </>
  );
}

interface Content<T> {
  value?: T;
  error?: string;
}

function useContent<T>(
  { name, version }: ArtifactVersion,
  read: () => Promise<Blob>,
  take: (blob: Blob) => Promise<T>,
): Content<T> {
  const [content, setContent] = useState<Content<T>>({});
  // A version never changes
  useEffect(() => {
    let current = true;
    setContent({});
    read()
      .then(take)
      .then((value) => current && setContent({ value }))
      .catch((error: Error) => current && setContent({ error: error.message }));
    return () => {
      current = false;
    };
  }, [name, version]);
  return content;
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // the content may not be valid JSON
  }
}
