// The version of a device's agent, with the label of its channel unless it is a production build.

import type { Device } from '../data/types';
import { text } from '../text';
import { Foreign } from './parts';

export function AgentVersion({ device: { agent_version: version, system } }: { device: Device }) {
  const channel = system?.channel;
  return (
    <span class="number">
      <Foreign>{version}</Foreign>
      {channel && channel !== 'stable' && ` · ${text.devices.channels[channel]}`}
    </span>
  );
}
