// The field for the address of a server that the system calls.

import { TextField } from '../kit/text-field';

interface Props {
  /** The address at first. */
  value?: string | undefined;
  placeholder: string;
}

export function AddressField({ value, placeholder }: Props) {
  return (
    <TextField
      label="Address"
      name="url"
      hint="An https address that is reachable from the internet. Redirects are not followed."
      type="url"
      required
      maxLength={2048}
      placeholder={placeholder}
      value={value}
    />
  );
}
