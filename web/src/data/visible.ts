// Work that only a page in sight needs.

/** Runs `work` each time somebody comes back to the page from elsewhere. What it returns ends that. */
export function onReturn(work: () => void): () => void {
  const ending = new AbortController();
  const { signal } = ending;
  let away = document.visibilityState === 'hidden';
  const left = (): void => {
    away = true;
  };
  const back = (): void => {
    if (!away || document.visibilityState === 'hidden') return;
    away = false;
    work();
  };
  document.addEventListener('visibilitychange', () => (document.visibilityState === 'hidden' ? left() : back()), { signal });
  addEventListener('blur', left, { signal });
  addEventListener('focus', back, { signal });
  return () => ending.abort();
}

/** Runs `work` while the page is in sight, each time with a signal that ends when it is hidden or `signal` is aborted. */
export function whileVisible(signal: AbortSignal, work: (visible: AbortSignal) => void): void {
  let running: AbortController | null = null;
  const adapt = (): void => {
    if (signal.aborted || document.visibilityState === 'hidden') {
      running?.abort();
      running = null;
    } else if (!running) {
      running = new AbortController();
      work(running.signal);
    }
  };
  document.addEventListener('visibilitychange', adapt, { signal });
  signal.addEventListener('abort', adapt);
  adapt();
}
