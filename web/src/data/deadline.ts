// The deadline of requests to the backend.

/** How long a backend may take for a document, in milliseconds. A browser waits for ever, and keeps one of its six connections. */
const DEADLINE = 30_000;

/** Returns a signal that ends a request whose answer does not come in time. */
export function deadline(): AbortSignal {
  return AbortSignal.timeout(DEADLINE);
}

/** Tells whether a request has ended by its deadline. */
export function isLate(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}
