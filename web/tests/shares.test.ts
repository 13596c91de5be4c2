// The shares that the list of devices shows as meters.

import { describe, expect, it } from 'vitest';

import { shareOf } from '../src/pages/devices/view';
import { levelOf } from '../src/ui/parts';
import { device } from './fixtures';

const full = device('a', {
  system: {
    reported_at: '', agent: { cpu_percent: 0, memory_bytes: 1 }, cpu_count: 1, cpu_percent: 42,
    memory: { total_bytes: 4, used_bytes: 3 }, disk: { total_bytes: 10, used_bytes: 9, free_bytes: 1 }, gpus: [],
  },
});

describe('a share in the list of devices', () => {
  it('is that of its column', () => {
    expect((['cpu', 'memory', 'disk', 'name'] as const).map((column) => shareOf(column, full))).toEqual([0.42, 0.75, 0.9, null]);
  });

  it('is none if the device has not reported it', () => {
    expect((['cpu', 'memory', 'disk'] as const).map((column) => shareOf(column, device('b', { system: null })))).toEqual([null, null, null]);
  });

  it('is as bad as on other pages', () => {
    expect([0, 0.74, 0.75, 0.9, 4].map(levelOf)).toEqual(['good', 'good', 'warn', 'bad', 'bad']);
  });
});
