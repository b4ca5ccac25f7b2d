// Detects whether a list has grown at its beginning or at its end.

import { useEffect, useRef } from 'preact/hooks';

interface Row {
  key: string;
}

/** Whether only rows before the existing ones were added since the last render. */
export function usePrepended(rows: readonly Row[]): boolean {
  const before = useRef<readonly Row[]>([]);
  const was = before.current;
  useEffect(() => {
    before.current = rows;
  }, [rows]);
  return was.length > 0 && was[0]?.key !== rows[0]?.key && was.at(-1)?.key === rows.at(-1)?.key;
}
