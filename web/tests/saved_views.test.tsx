// The columns of the list of devices, and views that a person saves.

import { beforeEach, describe, expect, it, vi } from 'vitest';

import { dropView, keepView, LONGEST_NAME, MOST_VIEWS, savedViews } from '../src/data/saved_views';
import { devices, devicesLoading, me } from '../src/data/store';
import { DevicesPage } from '../src/pages/devices/page';
import { Notices } from '../src/ui/notices';
import { go } from '../src/ui/router';
import { device } from './fixtures';
import { accessible, control, OWNER, place, press, settled, type } from './placed';

const here = place();
const heads = (): (string | null)[] => [...here.root.querySelectorAll('[role=columnheader] button')].map((head) => head.textContent);

beforeEach(() => localStorage.clear());

async function open(query = ''): Promise<void> {
  devices.loaded([device('a'), device('b', { tags: ['lab'] })]);
  devicesLoading.value = { state: 'ready', error: null };
  go(`/devices${query}`);
  here.show(<><DevicesPage /><Notices /></>);
  await settled('Columns');
}

async function openMenu(words: string): Promise<void> {
  (await control(words)).click();
  here.root.querySelectorAll('details').forEach((details) => details.dispatchEvent(new Event('toggle')));
}

describe('the columns', () => {
  it('are hidden and shown again, and the address says which', async () => {
    await open();
    expect(heads()).toHaveLength(10);
    await openMenu('Columns');
    await settled('Shown columns');
    await accessible();
    const tick = (name: string): void => {
      const label = [...here.root.querySelectorAll('.menu-choice')].find((one) => one.textContent === name);
      label?.querySelector('input')?.click();
    };
    tick('CPU');
    await vi.waitFor(() => expect(heads()).not.toContain('CPU'));
    tick('Tags');
    await vi.waitFor(() => expect(heads()).not.toContain('Tags'));
    expect(location.search).toBe('?hide=cpu%2Ctags');
    expect(here.root.querySelector('[role=table]')?.getAttribute('aria-colcount')).toBe('9');
    expect(here.root.querySelectorAll('.table-rows .cell.cpu')).toHaveLength(0);
    tick('CPU');
    await vi.waitFor(() => expect(heads()).toContain('CPU'));
    await accessible();
  });

  it('follow a pasted address, which cannot hide the name', async () => {
    await open('?hide=name,seen,nonsense');
    expect(heads()).toHaveLength(9);
    expect(heads()).toContain('Name');
    expect(heads()).not.toContain('Last seen');
  });
});

describe('a saved view', () => {
  it('brings back its search, filters, order and columns, and is deleted by its button', async () => {
    await open('?select=tag%3Dlab&sort=-cpu&hide=disk');
    await openMenu('Views');
    await settled('No view is saved yet.');
    await type('[aria-label="Name of this view"]', 'The lab');
    await press('Save');
    await vi.waitFor(() => expect(savedViews('usr')).toEqual([{ name: 'The lab', query: 'select=tag%3Dlab&sort=-cpu&hide=disk' }]));
    await accessible();
    go('/devices');
    await vi.waitFor(() => expect(heads()).toHaveLength(10));
    await press('The lab');
    await vi.waitFor(() => expect(location.search).toBe('?select=tag%3Dlab&sort=-cpu&hide=disk'));
    await openMenu('Views');
    await press('Delete the view The lab');
    await settled('No view is saved yet.');
    expect(savedViews('usr')).toEqual([]);
  });

  it('is of one user, and not seen by the next one at this browser', async () => {
    keepView('usr', { name: 'mine', query: '' });
    me.value = { ...OWNER, user_id: 'usr_2' };
    await open();
    await openMenu('Views');
    await settled('No view is saved yet.');
  });

  it('is refused with words if the browser keeps nothing', async () => {
    const full = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    await open();
    await openMenu('Views');
    await type('[aria-label="Name of this view"]', 'one');
    await press('Save');
    await settled('The view was not saved');
    full.mockRestore();
  });
});

describe('what is kept', () => {
  it('takes the place of a view of the same name, in order, and is bounded', () => {
    for (let index = 0; index < MOST_VIEWS; index += 1) expect(keepView('u', { name: `v${index}`, query: '' })).toBe(true);
    expect(keepView('u', { name: 'one more', query: '' })).toBe(false);
    expect(keepView('u', { name: 'v7', query: 'q=x' })).toBe(true);
    expect(savedViews('u')).toHaveLength(MOST_VIEWS);
    expect(savedViews('u').find(({ name }) => name === 'v7')?.query).toBe('q=x');
    expect(dropView('u', 'v7')).toBe(true);
    expect(savedViews('u').some(({ name }) => name === 'v7')).toBe(false);
  });

  it.each(['nonsense', '{}', '[1, null, {"name": 3}, {"name": "", "query": ""}]', JSON.stringify([{ name: 'x'.repeat(LONGEST_NAME + 1), query: '' }])])(
    'ignores %s in the storage',
    (words) => {
      localStorage.setItem('link.views.u', words);
      expect(savedViews('u')).toEqual([]);
    },
  );
});
