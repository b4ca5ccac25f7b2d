// A picture over the whole page, until Escape, a click beside it or on its button.

import { X } from 'lucide-preact';
import { useEffect, useRef } from 'preact/hooks';
import { useView } from '../context';
import { IconButton } from './icon-button';
import '../../styles/enlarged.css';

export function Enlarged({ src, name }: { src: string; name: string }) {
  const { dialog } = useView();
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog
      ref={element}
      class="enlarged"
      aria-label={name}
      onClose={() => {
        dialog.value = null;
      }}
      closedby="any"
    >
      <header>
        <bdi>{name}</bdi>
        <IconButton icon={X} label="Close" onClick={() => element.current?.close()} />
      </header>
      <img src={src} alt={name} />
    </dialog>
  );
}
