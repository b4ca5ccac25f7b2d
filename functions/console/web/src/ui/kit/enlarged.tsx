// A picture over the whole page, until Escape, a click beside it or on its button.

import { X } from 'lucide-preact';
import { useRef } from 'preact/hooks';
import { IconButton } from './icon-button';
import { Modal } from './modal';
import '../../styles/enlarged.css';

export function Enlarged({ src, name }: { src: string; name: string }) {
  const element = useRef<HTMLDialogElement>(null);
  return (
    <Modal element={element} class="enlarged" aria-label={name}>
      <header>
        <bdi>{name}</bdi>
        <IconButton icon={X} label="Close" onClick={() => element.current?.close()} />
      </header>
      <img src={src} alt={name} />
    </Modal>
  );
}
