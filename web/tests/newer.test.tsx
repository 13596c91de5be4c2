// An old page after an upgrade of the backend: it offers a reload, believes no page of a proxy, and loses no typed text.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Newer, unsent } from '../src/app/newer';
import { Page } from '../src/app/pages';
import { LOADS } from '../src/app/routes';
import { lookForNewer, outdated } from '../src/data/edition';
import { heard, live } from '../src/data/store';
import { DeployDialog } from '../src/ui/deploy';
import { go } from '../src/ui/router';
import { accessible, control, controls, place, press, settled, type } from './placed';

const here = place();
const OWN = '<script type="module" crossorigin src="/app/index-efcoFUxM.js"></script>';
let page: string | null;
let asked: number;

beforeEach(() => {
  outdated.value = false;
  page = OWN;
  asked = 0;
  document.head.innerHTML = OWN;
  const api = globalThis.fetch;
  vi.stubGlobal('fetch', async (input: Request | string, init?: RequestInit) => {
    if (input !== '/') return api(input, init);
    asked += 1;
    if (page === null) throw new TypeError('Failed to fetch');
    return new Response(page, { status: page === '' ? 503 : 200 });
  });
});
afterEach(() => {
  document.head.innerHTML = '';
  outdated.value = false;
});

const newer = (): void => void (page = OWN.replace('efcoFUxM', 'Bq-7_xYz'));

describe('an old page', () => {
  it.each([
    ['the same page', OWN],
    ['the login page of a proxy', '<form action="/login"><script src="/proxy.js"></script></form>'],
    ['an error', ''],
    ['nothing', null],
  ])('is not called old because of %s', async (_what, answer) => {
    page = answer;
    await lookForNewer();
    expect(asked).toBe(1);
    expect(outdated.value).toBe(false);
  });

  it('looks when the stream begins again, not when it begins', async () => {
    newer();
    live.value = { state: 'connecting' } as typeof live.value;
    heard({ type: 'ready', id: '1', resumed: false });
    expect(asked).toBe(0);
    heard({ type: 'lost' } as Parameters<typeof heard>[0]);
    heard({ type: 'ready', id: '2', resumed: false });
    await vi.waitFor(() => expect(outdated.value).toBe(true));
    expect(asked).toBe(1);
  });

  it('looks when a part cannot be loaded, and offers the reload there too', async () => {
    newer();
    const load = vi.spyOn(LOADS, 'usage').mockRejectedValue(new TypeError('Failed to fetch dynamically imported module'));
    go('/usage');
    here.show(<><Newer /><Page /></>);
    await settled('A part of the page could not be loaded');
    await settled('The backend has a newer version of these pages.');
    await accessible();
    load.mockRestore();
  });

  it('offers a reload, which waits if a field has text that it would lose', async () => {
    newer();
    await lookForNewer();
    here.show(
      <>
        <Newer />
        <input aria-label="Search" type="search" />
        <textarea aria-label="Draft" data-kept />
        <input aria-label="Name" id="name" />
      </>,
    );
    await type('input[type=search]', 'kept in the address');
    await type('textarea', 'kept in the browser');
    expect(unsent()).toBeNull();
    await type('#name', 'lost');
    await accessible();
    await press('Reload the page');
    await settled('A field has text that a reload loses.');
    expect(document.activeElement?.id).toBe('name');
    expect(controls()).toContain('Reload anyway');
    await accessible();
    expect(document.querySelector<HTMLInputElement>('#name')?.value).toBe('lost');
  });

  it('leaves an open dialog with its text as it is', async () => {
    const dialog = <DeployDialog model="mdl_1" targets={['dev_a']} close={() => undefined} />;
    here.show(<><Newer />{dialog}</>);
    await type('input[name=alias]', 'typed');
    newer();
    heard({ type: 'lost' } as Parameters<typeof heard>[0]);
    heard({ type: 'ready', id: '3', resumed: true });
    await settled('The backend has a newer version of these pages.');
    expect(document.querySelector<HTMLInputElement>('input[name=alias]')?.value).toBe('typed');
    expect(unsent()?.getAttribute('name')).toBe('alias');
    await control('Deploy');
  });
});
