// The state of a device in words.

import { stateOf } from '../data/selection';
import type { Device } from '../data/types';
import { text } from '../text';
import { past } from './exact_times';
import { Badge } from './parts';

export function DeviceBadge({ device, since = false }: { device: Device; since?: boolean }) {
  switch (stateOf(device)) {
    case 'online':
      return <Badge tone="good">{text.state.online}</Badge>;
    case 'updating':
      return <Badge tone="busy">{text.state.updating}</Badge>;
    case 'offline': {
      if (!device.last_seen_at) return <Badge tone="quiet">{text.state.neverSeen}</Badge>;
      if (device.status === 'updating') return <Badge tone="bad">{text.state.offlineUpdating}</Badge>;
      const words = since ? text.state.offlineSince(past(device.last_seen_at)) : text.state.offline;
      return <Badge tone="bad">{words}</Badge>;
    }
  }
}
