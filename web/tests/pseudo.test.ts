// The choice of the language, and the pseudo-language that is made of English.

import { describe, expect, it, vi } from 'vitest';

vi.hoisted(() => Object.defineProperty(navigator, 'languages', { value: ['en-XA', 'en'], configurable: true }));

import { language, languageOf, localeOf, text } from '../src/text';
import { english } from '../src/text/en';

describe('the language of the pages', () => {
  it('is the first that the reader prefers and the pages have, else English', () => {
    expect(language).toBe('en-XA');
    expect(document.documentElement.lang).toBe('en-XA');
    expect(languageOf(['de', 'en-GB'])).toBe('en');
    expect(languageOf(['tlh'])).toBe('en');
    expect(languageOf(['constructor'])).toBe('en');
  });

  it('writes times in the order of the first region that the reader names', () => {
    expect(localeOf('en', ['en-GB', 'en-US'])).toBe('en-GB');
    expect(localeOf('en', ['de', 'de-DE', 'en-US'])).toBe('en-DE');
    expect(localeOf('en', ['en'])).toBe('en');
    expect(localeOf('en-XA', ['en-XA', 'en'])).toBe('en-XA');
  });

  it('writes times also for a browser that names its locale by no tag', () => {
    expect(localeOf('en', ['en-US@posix', 'C'])).toBe('en');
    expect(localeOf('en', ['en-US@posix', 'en-GB'])).toBe('en-GB');
  });
});

describe('the pseudo-language', () => {
  it('has every word of English, longer, and keeps the values of a sentence', () => {
    expect(text.devices.title).toMatch(/^\[Đéṽíçéš ~+\]$/);
    expect(text.works.kind.repair('llama {x}')).toMatch(/^\[Řéƥáíř llama \{x\} ~+\]$/);
    expect(text.machine.asks).toMatch(/\{machine\}.*\{person\}/);
    expect(text.list.countOf(1, 2_000)).toContain('1 óƒ 2,000');
    expect(text.causes.engineLoading('m', 'd', 3).remedy).toMatch(/^\[.* 3 .*~\]$/);
    expect(Object.keys(text)).toEqual(Object.keys(english));
  });
});
