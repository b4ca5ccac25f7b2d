// A file in a message: an image is shown, any other can be downloaded. Files elsewhere are links; what
// is an artifact is shown with the other artifacts of the message.

import { File as FileIcon } from 'lucide-preact';
import type { Block } from '../../store/message';
import { kindOf } from '../artifact/kind';
import { Picture } from '../kit/picture';

type FileBlock = Extract<Block, { kind: 'file' }>;

export function FilePart({ file }: { file: FileBlock }) {
  const { mime, data, uri = '' } = file;
  const name = file.name || mime || 'File';
  if (data !== undefined) {
    const url = `data:${mime};base64,${standard(data)}`;
    if (kindOf(mime, name) === 'picture') return <Picture src={url} name={name} />;
    return (
      <a class="file" href={url} download={name}>
        <Named name={name} />
      </a>
    );
  }
  if (uri.startsWith('artifact:')) return null;
  if (!/^https?:/i.test(uri)) {
    return (
      <span class="file">
        <Named name={name} />
      </span>
    );
  }
  return (
    <a class="file" href={uri} target="_blank" rel="noopener noreferrer">
      <Named name={name} />
    </a>
  );
}

function Named({ name }: { name: string }) {
  return (
    <>
      <FileIcon size={16} aria-hidden="true" />
      <bdi>{name}</bdi>
    </>
  );
}

// Bytes may be URL-safe base64, which data: URLs do not support.
const standard = (data: string): string => data.replace(/-/g, '+').replace(/_/g, '/');
