// Code, coloured once its language is loaded; plain until then, and while it grows.

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

interface Props {
  language: string;
  text: string;
  growing?: boolean;
}

export function Coloured({ language, text, growing = false }: Props) {
  const [coloured, setColoured] = useState<{ of: string; tree: ComponentChildren } | null>(null);
  useEffect(() => {
    if (growing || language === '') return;
    let current = true;
    import('./highlight')
      .then(({ highlight }) => highlight(language, text))
      .then((tree) => current && setColoured({ of: text, tree }))
      .catch(() => {}); // the server cannot be reached: the code stays plain
    return () => {
      current = false;
    };
  }, [language, text, growing]);
  const tree = coloured?.of === text ? coloured.tree : null;
  return <code>{tree ?? text}</code>;
}
