// A file in a message: an image is shown, any other can be downloaded.

import { File as FileIcon } from 'lucide-preact';
import type { Block } from '../../store/message';

type FileBlock = Extract<Block, { kind: 'file' }>;

export function FilePart({ file }: { file: FileBlock }) {
  const name = file.name || file.mime || 'File';
  if (file.data === undefined) {
    return (
      <a class="file" href={safe(file.uri)} target="_blank" rel="noopener noreferrer">
        {name}
      </a>
    );
  }
  const url = `data:${file.mime};base64,${standard(file.data)}`;
  if (/^image\/(png|jpeg|gif|webp|avif)$/.test(file.mime)) {
    return <img class="picture" src={url} alt={name} />;
  }
  return (
    <a class="file" href={url} download={name}>
      <FileIcon size={16} aria-hidden="true" />
      {name}
    </a>
  );
}

// Bytes may be URL-safe base64, which data: URLs do not support.
const standard = (data: string): string => data.replace(/-/g, '+').replace(/_/g, '/');

function safe(uri = ''): string | undefined {
  return /^https?:/i.test(uri) ? uri : undefined;
}
