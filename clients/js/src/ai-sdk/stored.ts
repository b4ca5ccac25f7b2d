// The chunks of a stored message.

import type { UIMessage, UIMessageChunk } from 'ai';

type Part = { type: string } & Record<string, unknown>;

/** Returns the chunks that make up a message, without its last one. */
export function chunksOf({ id, parts }: UIMessage): UIMessageChunk[] {
  let texts = 0;
  let steps = 0;
  const step = () => (steps++ > 0 ? ['finish-step', 'start-step'] : ['start-step']);
  const chunks = (parts as unknown as Part[]).flatMap((part): Part[] => {
    if (part.type === 'step-start') return step().map((type) => ({ type }));
    return partChunks(part, `${steps}:${texts++}`);
  });
  const end = steps > 0 ? [{ type: 'finish-step' }] : [];
  return [{ type: 'start', messageId: id }, ...chunks, ...end] as UIMessageChunk[];
}

function partChunks(part: Part, name: string): Part[] {
  const { type, text, state, ...more } = part;
  if (type === 'dynamic-tool') return callChunks(part);
  if (type !== 'text' && type !== 'reasoning') return [part];
  const id = more.id ?? name;
  const chunk = (what: string, members = {}) => ({ type: `${type}-${what}`, id, ...members });
  return [chunk('start'), ...(text ? [chunk('delta', { delta: text })] : []), chunk('end')];
}

function callChunks(part: Part): Part[] {
  const { toolCallId, toolName, state, input, output, errorText, providerExecuted } = part;
  const call = { toolCallId, dynamic: true, ...(providerExecuted ? { providerExecuted } : {}) };
  const chunks: Part[] = [
    { ...call, type: 'tool-input-start', toolName },
    { ...call, type: 'tool-input-available', toolName, input },
  ];
  if (state === 'output-available') chunks.push({ ...call, type: 'tool-output-available', output });
  if (state === 'output-error') chunks.push({ ...call, type: 'tool-output-error', errorText });
  return chunks;
}
