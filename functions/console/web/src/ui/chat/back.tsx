import { ArrowLeft } from 'lucide-preact';
import { Link } from 'wouter-preact';

/** Leads from a page about a chat to the chat. */
export function BackToChat({ href }: { href: string }) {
  return (
    <Link href={href} class="icon-button" aria-label="Back to the chat" title="Back to the chat">
      <ArrowLeft size={18} aria-hidden="true" />
    </Link>
  );
}
