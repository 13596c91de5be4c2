// One chat completion, streamed from the device. What goes wrong is thrown as a `ChatFailure` that
// keeps what the browser and the device said, for `causes.js` to judge.

import { events } from './sse.js';

/** A chat completion failed; `seen` is what is known about it from the request alone. */
export class ChatFailure extends Error {
  constructor(seen) {
    super(seen.message ?? seen.kind);
    this.seen = seen;
  }
}

/** Where a model on `port` of this computer is asked. */
export function endpoint(port) {
  return `http://127.0.0.1:${port}/v1/chat/completions`;
}

/**
 * Asks for an answer and hands over its pieces: `text` for each piece of text, `thought` for each
 * piece of reasoning. Returns the usage, or null when the engine told none.
 */
export async function complete({ port, model, messages, signal, text, thought }) {
  const body = JSON.stringify({
    model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  const size = new TextEncoder().encode(body).length;
  let response;
  try {
    response = await fetch(endpoint(port), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      cache: 'no-store',
      credentials: 'omit',
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw new ChatFailure({ kind: 'stopped' });
    throw new ChatFailure({ kind: 'network', message: error.message, size });
  }
  if (!response.ok) throw new ChatFailure({ ...(await refusal(response)), size });
  return pieces(response, { signal, text, thought });
}

async function pieces(response, { signal, text, thought }) {
  let usage = null;
  try {
    for await (const data of events(response.body)) {
      if (data === '[DONE]') return usage;
      const event = JSON.parse(data);
      if (event.error) throw new ChatFailure(engineError(event.error, 'engine'));
      const delta = event.choices?.[0]?.delta;
      if (delta?.content) text(delta.content);
      else if (delta?.reasoning_content) thought(delta.reasoning_content);
      if (event.usage) usage = event.usage;
    }
  } catch (error) {
    if (error instanceof ChatFailure) throw error;
    if (signal?.aborted) throw new ChatFailure({ kind: 'stopped' });
    throw new ChatFailure({ kind: 'broken', message: error.message });
  }
  // Without `[DONE]` the stream was cut, however politely.
  if (usage === null) throw new ChatFailure({ kind: 'broken', message: 'the stream ended early' });
  return usage;
}

/** Reads a problem document of the device, or an error of the engine behind it. */
async function refusal(response) {
  const said = await response.json().catch(() => ({}));
  const seen = {
    kind: 'refused',
    status: response.status,
    retryAfter: Number(response.headers.get('retry-after')) || null,
  };
  if (said.error) return { ...engineError(said.error, 'refused'), ...seen };
  return { ...seen, code: said.code ?? null, detail: said.detail ?? null, hint: said.hint ?? null };
}

function engineError(error, kind) {
  const told = typeof error === 'string' ? { message: error } : error;
  return {
    kind,
    engine: true,
    code: told.type ?? null,
    detail: told.message ?? null,
    tokens: told.n_prompt_tokens ?? null,
    context: told.n_ctx ?? null,
  };
}
