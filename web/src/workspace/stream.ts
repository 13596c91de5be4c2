// A streamed chat completion: the events of the stream become pieces of text, of reasoning, and the usage. Pure.

import { EventParser } from '../data/sse';
import type { FailedRequest } from './causes';

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
}

/** A request to a model failed; `request` is what is known about it from the request alone. */
export class RequestFailure extends Error {
  constructor(readonly request: FailedRequest) {
    super(request.message ?? request.kind);
  }
}

export interface Pieces {
  text: string;
  thought: string;
}

interface EngineError {
  type?: unknown;
  message?: unknown;
  n_prompt_tokens?: unknown;
  n_ctx?: unknown;
}

interface Chunk {
  error?: EngineError | string;
  choices?: readonly { delta?: { content?: unknown; reasoning_content?: unknown }; finish_reason?: unknown }[];
  usage?: Usage | null;
}

/** Reads the body of one completion, in any cut. */
export class CompletionReader {
  readonly #parser = new EventParser();
  usage: Usage | null = null;
  /** Whether the engine has said that the stream is whole. */
  ended = false;
  /** Whether the answer was cut off: it reached its token limit or the end of the model's context. */
  isCut = false;

  /** Takes a piece of the body, and returns what it adds to the answer. */
  push(piece: string): Pieces {
    const pieces = { text: '', thought: '' };
    for (const { data } of this.#parser.push(piece)) this.#event(data, pieces);
    return pieces;
  }

  /** Takes the end of the body, whose last event may lack its empty line. */
  end(): Pieces {
    const pieces = this.push('\n\n');
    // Without `[DONE]` and without a usage the stream was cut, however politely.
    if (!this.ended && this.usage === null) throw new RequestFailure({ kind: 'broken', message: 'the stream ended early' });
    return pieces;
  }

  #event(data: string, pieces: Pieces): void {
    if (this.ended) return;
    if (data === '[DONE]') {
      this.ended = true;
      return;
    }
    const chunk = parsed(data);
    if (chunk.error) throw new RequestFailure(failedWith(chunk.error, 'engine'));
    const { delta, finish_reason: reason } = chunk.choices?.[0] ?? {};
    if (reason === 'length') this.isCut = true;
    if (typeof delta?.content === 'string') pieces.text += delta.content;
    if (typeof delta?.reasoning_content === 'string') pieces.thought += delta.reasoning_content;
    if (chunk.usage) this.usage = chunk.usage;
  }
}

/** What the type of every problem document of a device begins with. */
const PROBLEM = 'urn:link:problem:';

/** Returns what a refusal says: a problem document of the device, or an error of the engine behind it. The proxy's
 * problem documents also hold an error in the engine's form, for clients that read only that form; such an error does not name the
 * cause. */
export function refusal(status: number, retryAfter: number | null, body: string): FailedRequest {
  const said = documentOf(body);
  const request = { kind: 'refused' as const, status, retryAfter };
  if (said['error'] && !wordsOf(said['type'])?.startsWith(PROBLEM)) return { ...failedWith(said['error'] as EngineError | string, 'refused'), ...request };
  return { ...request, code: wordsOf(said['code']), detail: wordsOf(said['detail']), hint: wordsOf(said['hint']) };
}

function failedWith(error: EngineError | string, kind: 'engine' | 'refused'): FailedRequest {
  const fields: EngineError = typeof error === 'string' ? { message: error } : error;
  return {
    kind,
    engine: true,
    code: wordsOf(fields.type),
    detail: wordsOf(fields.message),
    tokens: typeof fields.n_prompt_tokens === 'number' ? fields.n_prompt_tokens : null,
    context: typeof fields.n_ctx === 'number' ? fields.n_ctx : null,
  };
}

function parsed(data: string): Chunk {
  try {
    const chunk: unknown = JSON.parse(data);
    return typeof chunk === 'object' && chunk !== null ? chunk : {};
  } catch {
    throw new RequestFailure({ kind: 'broken', message: 'the stream is garbled' });
  }
}

function documentOf(body: string): Record<string, unknown> {
  try {
    const document: unknown = JSON.parse(body);
    return typeof document === 'object' && document !== null ? (document as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function wordsOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, 2_000) : null;
}
