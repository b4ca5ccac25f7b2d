// The variants of a question, and arrows that lead from one to the next: ‹ 2/3 ›.

import { ChevronLeft, ChevronRight, Columns2, type LucideIcon } from 'lucide-preact';
import { useContext, useEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { isQuestion } from '../../store/message';
import { quote } from '../../store/text';
import type { Variants } from '../../store/variants';
import type { Group, Variant } from '../../store/variants-model';
import { comparePath } from '../compare/address';
import { useShow } from '../history/address';
import { HistoryContext } from '../history/place';
import { IconButton } from '../kit/icon-button';
import type { MessageProps } from './props';

export function Switcher(props: MessageProps) {
  const { chat, message, turn } = props;
  const history = useContext(HistoryContext);
  const variants = chat.variants.value;
  const group = variants?.groups.value.get(message.invocation);
  if (!variants || !group || history || turn.messages.find(isQuestion) !== message) return null;
  return <Shown {...props} variants={variants} group={group} />;
}

interface ShownProps extends MessageProps {
  variants: Variants;
  group: Group;
}

function Shown({ chat, message, variants, group }: ShownProps) {
  const element = useRef<HTMLDivElement>(null);
  const show = useShow();
  const { index, variants: list } = group;
  const { write } = chat.rights.value;
  const wanted = variants.focus.value;
  // After switching, the arrow has the focus that it had before
  useEffect(() => {
    if (wanted?.invocation !== message.invocation) return;
    element.current?.querySelector<HTMLElement>(`[data-step="${wanted.step}"]`)?.focus();
    variants.focus.value = null;
  }, [wanted, message.invocation, variants]);

  const go = (variant: Variant, step: number) => {
    const { elsewhere, invocation } = variant;
    if (elsewhere) show(elsewhere.session, { at: invocation });
    else void variants.show(variant, step);
  };
  const arrow = (step: number, icon: LucideIcon, name: string) => {
    const variant = list[index + step];
    const allowed = variant !== undefined && (write || variant.elsewhere !== null);
    const where = variant?.elsewhere
      ? `, in ${quote(variant.elsewhere.name || 'another chat')}`
      : '';
    return (
      <IconButton
        icon={icon}
        label={`${name} variant${where}`}
        size={16}
        data-step={step}
        aria-disabled={!allowed || variants.busy.value} // keeps the focus at the end of the list
        onClick={() => allowed && go(variant, step)}
      />
    );
  };
  const arrows = write || list.some(({ elsewhere }) => elsewhere);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div
      ref={element}
      class="switcher"
      role="group"
      aria-label={`Variant ${index + 1} of ${list.length}`}
      data-testid="switcher"
    >
      {arrows && arrow(-1, ChevronLeft, 'Previous')}
      <span aria-hidden={arrows}>
        {index + 1}/{list.length}
      </span>
      {arrows && arrow(1, ChevronRight, 'Next')}
      <Compare session={chat.id} group={group} />
    </div>
  );
}

// The variant before the one that is shown, or after the first one, beside it.
function Compare({ session, group: { variants, index } }: { session: string; group: Group }) {
  const other = variants[index - 1] ?? variants[index + 1];
  if (!other) return null;
  const { elsewhere, hiddenBy } = other;
  const branch = elsewhere
    ? { session: elsewhere.session, before: '' }
    : { session, before: hiddenBy };
  return (
    <Link
      href={comparePath(branch, { session, before: '' })}
      class="icon-button"
      aria-label="Compare with another variant"
      title="Compare with another variant"
    >
      <Columns2 size={16} aria-hidden="true" />
    </Link>
  );
}
