// Tells a list that grows at its beginning from one that grows at its end.

import { useEffect, useRef } from 'preact/hooks';

interface Row {
  key: string;
}

/** Whether the newest rows are the same as when it was drawn last, and those before them are new. */
export function usePrepended(rows: readonly Row[]): boolean {
  const before = useRef<readonly Row[]>([]);
  const was = before.current;
  useEffect(() => {
    before.current = rows;
  }, [rows]);
  return was.length > 0 && was[0]?.key !== rows[0]?.key && was.at(-1)?.key === rows.at(-1)?.key;
}
