// The files of a question that is not sent yet.

import { File as FileIcon, LoaderCircle, TriangleAlert, X } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import type { DraftFile, DraftFiles } from '../../store/files';
import { kindOf, sizeOf } from '../artifact/kind';
import { IconButton } from '../kit/icon-button';
import '../../styles/files.css';

export function FileList({ files }: { files: DraftFiles }) {
  return (
    <ul class="draft-files" aria-label="Files of the question">
      {files.list.value.map((draft) => (
        <FileChip key={draft.id} draft={draft} remove={() => files.remove(draft.id)} />
      ))}
    </ul>
  );
}

const STATUS = { waiting: '', uploading: 'uploading…', stored: 'uploaded', failed: 'failed' };

function FileChip({ draft, remove }: { draft: DraftFile; remove: () => void }) {
  const { file, name, status, error } = draft;
  return (
    <li data-status={status} data-testid="draft-file" title={error || name}>
      <Sign draft={draft} />
      <span class="draft-file-name">
        <bdi>{name}</bdi>
        <small role="status">
          {sizeOf(file.size)}
          {status !== 'waiting' && ` · ${STATUS[status]}`}
          {error && <span class="hidden">: {error}</span>}
        </small>
      </span>
      <IconButton
        icon={X}
        label={`Remove ${name}`}
        size={15}
        disabled={status === 'uploading'}
        onClick={remove}
      />
    </li>
  );
}

function Sign({ draft: { file, name, status } }: { draft: DraftFile }) {
  const picture = usePicture(file, name);
  if (status === 'uploading') return <LoaderCircle class="turning" size={18} aria-hidden="true" />;
  if (status === 'failed') return <TriangleAlert size={18} aria-hidden="true" />;
  if (picture) return <img src={picture} alt="" />;
  return <FileIcon size={18} aria-hidden="true" />;
}

function usePicture(file: File, name: string): string {
  const [url, setUrl] = useState('');
  useEffect(() => {
    if (kindOf(file.type, name) !== 'picture') return;
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file, name]);
  return url;
}
