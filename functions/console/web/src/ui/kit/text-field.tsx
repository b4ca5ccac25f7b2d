// A field for one line of text.

import type { InputHTMLAttributes } from 'preact';
import { Field, type FieldProps } from './field';

type InputProps = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'autocapitalize' | 'dir' | 'maxLength' | 'placeholder' | 'required' | 'spellcheck' | 'type'
>;

interface Props extends Omit<FieldProps, 'control'>, InputProps {
  /** The text at first. */
  value?: string | undefined;
}

export function TextField({ label, name, pointer, hint, value, ...input }: Props) {
  return (
    <Field
      label={label}
      name={name}
      pointer={pointer}
      hint={hint}
      control={(props) => (
        <input {...input} {...props} class="field" autocomplete="off" defaultValue={value} />
      )}
    />
  );
}
