// What can go wrong with a request: the backend refuses it, does not answer, or something else answers in its place.

import { text } from '../text';
import { sentence } from '../text/visible';

interface ProblemDocument {
  code?: string;
  detail?: string;
  title?: string;
  hint?: string | null;
  request_id?: string | null;
}

/** The backend refused a request, with its problem document. */
export class Problem extends Error {
  readonly code: string | null;
  readonly hint: string | null;
  readonly requestId: string | null;

  constructor(
    readonly status: number,
    document: ProblemDocument,
    /** Seconds until a retry makes sense. */
    readonly retryAfter: number | null = null,
  ) {
    super(sentence(document.detail ?? document.title ?? text.problems.status(status)));
    this.code = document.code ?? null;
    this.hint = document.hint ? sentence(document.hint) : null;
    this.requestId = document.request_id ?? null;
  }
}

/** The backend did not answer. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super(text.problems.unreachable, { cause });
  }
}

/** The answer is not the backend's: cut off, or the page of a proxy. */
export class Unreadable extends Error {
  constructor(cause: unknown) {
    super(text.problems.unreadable, { cause });
  }
}

/** Returns the problem that an answer with an error status describes. */
export function problemOf(response: Response, body: string): Problem {
  let document: ProblemDocument = {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === 'object' && parsed !== null) document = parsed;
  } catch {
    // A proxy answers without a problem document; the status has to do.
  }
  const seconds = Number(response.headers.get('retry-after'));
  return new Problem(response.status, document, seconds > 0 ? seconds : null);
}

/** Returns what happened. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : text.problems.unknown;
}

/** Returns what happened, and what to do: a hint that names a command is for a terminal. */
export function wordsOf(error: unknown): string {
  const hint = error instanceof Problem && error.hint && !error.hint.includes('`link ') ? error.hint : '';
  return [messageOf(error), hint].filter(Boolean).join(' ');
}
