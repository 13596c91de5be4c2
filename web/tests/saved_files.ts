// The files that a page hands to the browser.

import { beforeEach, vi } from 'vitest';

interface SavedFile {
  name: string;
  type: string;
  words: string;
}

/** Returns a function that returns the files saved since the test began. */
export function savedFiles(): () => Promise<SavedFile[]> {
  const contents = new Map<string, Blob>();
  const saved: { name: string; content: Blob }[] = [];
  beforeEach(() => {
    contents.clear();
    saved.length = 0;
    const createObjectURL = (content: Blob): string => {
      const address = `blob:${contents.size}`;
      contents.set(address, content);
      return address;
    };
    vi.stubGlobal('URL', Object.assign(URL, { createObjectURL, revokeObjectURL: () => undefined }));
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      const content = contents.get(this.href);
      if (!content) throw new Error(`the link to ${this.href} leads to no file`);
      saved.push({ name: this.download, content });
    });
  });
  return () => Promise.all(saved.map(async ({ name, content }) => ({ name, type: content.type, words: await content.text() })));
}
