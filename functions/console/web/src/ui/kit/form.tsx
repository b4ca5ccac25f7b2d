// A form that is sent once at a time, and shows the server's complaints at the fields they are about.

import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { type FieldError, RethreadError } from 'rethread';
import { Link } from 'wouter-preact';
import { errorText } from '../../api/error';
import { SignedOut } from '../../auth/auth';

interface Complaints {
  list: readonly FieldError[];
  /** The members that fields show complaints about, by pointer. */
  fields: Set<string>;
}

const Context = createContext<Complaints>({ list: [], fields: new Set() });

const WRONG = '[aria-invalid=true], [data-invalid=true], .form-failure';

interface Props {
  /** The label of the button that sends the form. */
  submit: string;
  run: (form: FormData) => Promise<void>;
  /** The address to which cancelling leads, or what it does. */
  cancel: string | (() => void);
  children: ComponentChildren;
}

export function Form({ submit, run, cancel, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const busy = useRef(false);
  const { current: fields } = useRef(new Set<string>());
  const [waiting, setWaiting] = useState(false);
  const [failure, setFailure] = useState<{ text: string; list: readonly FieldError[] } | null>(
    null,
  );

  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (busy.current) return;
    busy.current = true;
    setWaiting(true);
    try {
      await run(new FormData(event.currentTarget as HTMLFormElement));
      setFailure(null);
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      busy.current = false;
      setWaiting(false);
    }
  };
  useEffect(() => {
    if (!failure) return;
    form.current?.querySelector<HTMLElement>(WRONG)?.focus();
  }, [failure]);

  const list = failure?.list ?? [];
  return (
    <Context.Provider value={{ list, fields }}>
      <form ref={form} class="form" onSubmit={onSubmit}>
        {children}
        {failure && <Failure text={failure.text} list={list} fields={fields} />}
        <div class="form-buttons">
          <button type="submit" class="button primary" disabled={waiting} aria-busy={waiting}>
            {submit}
          </button>
          <Cancel cancel={cancel} />
        </div>
      </form>
    </Context.Provider>
  );
}

function Cancel({ cancel }: Pick<Props, 'cancel'>) {
  return typeof cancel === 'string' ? (
    <Link href={cancel} class="button">
      Cancel
    </Link>
  ) : (
    <button type="button" class="button" onClick={cancel}>
      Cancel
    </button>
  );
}

// The complaints that no field shows.
function Failure({ text, list, fields }: { text: string } & Complaints) {
  const rest = list.filter(({ pointer }) => ![...fields].some((field) => isIn(pointer, field)));
  if (list.length > 0 && rest.length === 0) {
    return (
      <p class="hidden" role="alert">
        The form has mistakes.
      </p>
    );
  }
  return (
    <div class="notice form-failure" role="alert" tabIndex={-1}>
      {rest.length === 0 && <p>{text}</p>}
      {rest.map(({ pointer, detail }) => (
        <p key={pointer}>
          {pointer && <code>{pointer}</code>} {detail}
        </p>
      ))}
    </div>
  );
}

/**
 * The complaint about a member of the body, or about a member inside of it; '' if there is none.
 * @param pointer the JSON pointer of the member
 */
export function useComplaint(pointer: string): string {
  const { list, fields } = useContext(Context);
  useEffect(() => {
    fields.add(pointer);
    return () => {
      fields.delete(pointer);
    };
  }, [fields, pointer]);
  const about = list.filter((complaint) => isIn(complaint.pointer, pointer));
  return [...new Set(about.map(({ detail }) => sentence(detail)))].join(' ');
}

const isIn = (pointer: string, member: string): boolean =>
  pointer === member || pointer.startsWith(`${member}/`);

/** A complaint found before anything was sent. */
export class FormError extends Error {
  readonly errors: FieldError[];

  constructor(pointer: string, detail: string) {
    super(detail);
    this.errors = [{ pointer, detail }];
  }
}

function failureOf(error: unknown): { text: string; list: readonly FieldError[] } | null {
  if (error instanceof SignedOut) return null; // the page asks to sign in
  const list = error instanceof RethreadError || error instanceof FormError ? error.errors : [];
  return { text: errorText(error), list };
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
