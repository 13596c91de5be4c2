// What jsdom lacks of a browser, and what its end has to wait for.

import { afterAll, vi } from 'vitest';

// Effects of a page that was taken away run up to 100 ms later, and need the document.
afterAll(() => new Promise((resolve) => setTimeout(resolve, 150)));

vi.stubGlobal('matchMedia', (media: string) => ({ media, matches: false, addEventListener: () => undefined }));
vi.stubGlobal('scrollTo', () => undefined);
vi.stubGlobal(
  'ResizeObserver',
  class {
    observe(): void {}
    unobserve(): void {}
    disconnect(): void {}
  },
);
HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
  this.open = false;
};
HTMLCanvasElement.prototype.getContext = () => null;
