// A picture that is enlarged by a click. Pictures are only ever <img> elements: in these an SVG runs no
// scripts and loads nothing.

import { useState } from 'preact/hooks';
import { useView } from '../context';
import { lazy } from './lazy';

const Enlarged = lazy(() => import('./enlarged').then((m) => m.Enlarged), 'dialog');

export function Picture({ src, name }: { src: string; name: string }) {
  const { dialog } = useView();
  const [broken, setBroken] = useState(false);
  if (broken) return <p class="hint">{name}: this image cannot be displayed.</p>;
  return (
    <button
      type="button"
      class="picture-button"
      title="Enlarge"
      onClick={() => {
        dialog.value = <Enlarged src={src} name={name} />;
      }}
    >
      <img class="picture" src={src} alt={name} onError={() => setBroken(true)} />
    </button>
  );
}
