// What jsdom lacks of a browser.

import { vi } from 'vitest';

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
