// A resource with the version that a change is based on.

import { useEffect, useMemo } from 'preact/hooks';
import type { CallOptions } from 'rethread';
import { Loaded } from '../../store/loaded';

export interface Version<T> {
  value: T;
  etag: string;
}

/** Reads a resource with its version once, so that a form does not change while it is filled in. */
export function useVersion<T>(
  topic: string,
  read: (options: CallOptions) => Promise<T>,
): Loaded<Version<T>> {
  const loaded = useMemo(() => new Loaded(topic, () => versionOf(read)), [topic]);
  useEffect(() => void loaded.reload(), [loaded]);
  return loaded;
}

async function versionOf<T>(read: (options: CallOptions) => Promise<T>): Promise<Version<T>> {
  let etag = '';
  const onResponse = ({ headers }: Response) => {
    etag = headers.get('ETag') ?? '';
  };
  const value = await read({ onResponse });
  return { value, etag };
}
