// Work that only a page in sight needs.

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
