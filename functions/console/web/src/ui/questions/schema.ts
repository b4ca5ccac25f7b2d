// The fields of a form for a JSON Schema.

import type { Schema } from '../../store/questions';

export interface Field {
  /** The member of the answer; '' if the value is the whole answer. */
  name: string;
  label: string;
  hint: string;
  kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
  choices: string[];
  required: boolean;
}

const MOST = 20; // fields; a larger answer is written as JSON

/** The fields that an answer needs; without a schema it is a text. */
export function fieldsOf(schema: Schema | null): Field[] {
  if (!schema) return [fieldOf('', { type: 'string' }, true)];
  const members = Object.entries(schema.properties ?? {});
  if (members.length === 0) return [fieldOf('', schema, true)];
  if (members.length > MOST) return [fieldOf('', { type: 'object' }, true)];
  const required = new Set(schema.required ?? []);
  return members.map(([name, member]) => fieldOf(name, member, required.has(name)));
}

function fieldOf(name: string, schema: Schema, required: boolean): Field {
  const choices = (schema.enum ?? []).filter((value) => typeof value === 'string');
  const kinds: Record<string, Field['kind']> = {
    string: choices.length > 0 ? 'choice' : 'text',
    number: 'number',
    integer: 'number',
    boolean: 'boolean',
  };
  return {
    name,
    label: schema.title ?? (name || 'Your answer'),
    hint: schema.description ?? '',
    kind: kinds[schema.type ?? 'string'] ?? 'json',
    choices,
    required,
  };
}

/** What the texts in the fields stand for. Throws the message for a field that is wrong. */
export function answerOf(fields: readonly Field[], read: (field: Field) => string): unknown {
  const whole = fields.length === 1 && fields[0]?.name === '' ? fields[0] : null;
  if (whole) return parse(whole, read(whole));
  const entries = fields.flatMap((field) => {
    const text = read(field);
    return text === '' && !field.required ? [] : [[field.name, parse(field, text)] as const];
  });
  return Object.fromEntries(entries);
}

function parse({ kind, label }: Field, text: string): unknown {
  switch (kind) {
    case 'number': {
      const number = Number(text);
      if (text.trim() === '' || !Number.isFinite(number))
        throw new Error(`${label}: not a number.`);
      return number;
    }
    case 'boolean':
      return text === 'true';
    case 'json':
      try {
        return JSON.parse(text);
      } catch {
        throw new Error(`${label}: not valid JSON.`);
      }
    default:
      return text;
  }
}
