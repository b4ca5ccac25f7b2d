// An artifact version that is a picture.

import { useEffect, useState } from 'preact/hooks';
import { readable } from '../../store/artifacts';
import { Picture } from '../kit/picture';

interface Props {
  name: string;
  version: number;
  read: () => Promise<Blob>;
}

export function ArtifactPicture({ name, version, read }: Props) {
  const [url, setUrl] = useState('');
  const [error, setError] = useState('');
  // A version never changes
  useEffect(() => {
    let made = '';
    let current = true;
    read().then(
      (bytes) => {
        if (!current) return;
        made = URL.createObjectURL(bytes);
        setUrl(made);
      },
      (reason: Error) => current && setError(reason.message),
    );
    return () => {
      current = false;
      URL.revokeObjectURL(made);
    };
  }, [name, version]);
  if (error) return <p class="hint">{error}</p>;
  if (!url) return <p class="hint">Loading…</p>;
  return <Picture src={url} name={readable(name).label} />;
}
