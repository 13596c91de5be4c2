// One chat completion, streamed from the device to this page. The backend does not see it.

import { noticed } from './here';
import { CompletionReader, refusal, RequestFailure, type Pieces, type Usage } from './stream';

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface Sampling {
  temperature: number | null;
  top_p: number | null;
  max_tokens: number | null;
}

/** Where a model is: the port of this computer, and the device that has to answer there. */
export interface At {
  port: number;
  deviceId: string;
}

interface Question {
  at: At;
  model: string;
  messages: readonly Message[];
  sampling: Sampling;
  signal: AbortSignal;
  heard: (pieces: Pieces) => void;
}

/** How an answer has ended. */
export interface Ending {
  /** Nothing if the engine has told none. */
  usage: Usage | null;
  /** Whether it was cut off by a limit of tokens. */
  isCut: boolean;
}

/** Asks for an answer and hands over its pieces. */
export async function complete({ at, model, messages, sampling, signal, heard }: Question): Promise<Ending> {
  const chosen = Object.fromEntries(Object.entries(sampling).filter(([, value]) => value !== null));
  const body = JSON.stringify({ model, messages, ...chosen, stream: true, stream_options: { include_usage: true } });
  const size = new TextEncoder().encode(body).length;
  const headers = { 'content-type': 'application/json' };
  const response = await request(at, '/v1/chat/completions', { body, headers, signal }, size);
  const reader = new CompletionReader();
  try {
    const stream = response.body?.getReader();
    const decoder = new TextDecoder();
    for (;;) {
      const piece = await stream?.read();
      if (!piece || piece.done) break;
      heard(reader.push(decoder.decode(piece.value, { stream: true })));
    }
    heard(reader.end());
    return { usage: reader.usage, isCut: reader.isCut };
  } catch (error) {
    if (signal.aborted) throw new RequestFailure({ kind: 'stopped' });
    if (error instanceof RequestFailure) throw error;
    throw new RequestFailure({ kind: 'broken', message: messageOf(error) });
  }
}

/**
 * Sends a request to a model on this computer, and returns its answer if the model accepts the request. An answer of another
 * device than the one that was meant is dropped.
 */
export async function request(
  { port, deviceId }: At,
  path: string,
  init: { body: BodyInit; headers?: Record<string, string>; signal: AbortSignal },
  size: number,
): Promise<Response> {
  let response: Response;
  try {
    const options = { ...init, method: 'POST', cache: 'no-store', credentials: 'omit' } as const;
    response = await fetch(`http://127.0.0.1:${port}${path}`, options);
  } catch (error) {
    if (init.signal.aborted) throw new RequestFailure({ kind: 'stopped' });
    throw new RequestFailure({ kind: 'network', message: messageOf(error), size });
  }
  const device = noticed(port, response);
  if (device !== null && device !== deviceId) {
    await response.body?.cancel();
    throw new RequestFailure({ kind: 'elsewhere', device });
  }
  if (response.ok) return response;
  const retryAfter = Number(response.headers.get('retry-after')) || null;
  const body = await response.text().catch(() => '');
  throw new RequestFailure({ ...refusal(response.status, retryAfter, body), size });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
