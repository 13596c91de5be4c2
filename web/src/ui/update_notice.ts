// Says how the update of an agent has ended, on whatever page the person is by then.

import { effect, untracked } from '@preact/signals';

import { deviceName } from '../data/names';
import { endedUpdate } from '../data/updates';
import { sentence, visible } from '../text/visible';
import { tellEnd } from './carry_out';

effect(() => {
  const command = endedUpdate.value;
  if (!command) return;
  untracked(() => {
    const name = visible(deviceName(command.device_id)).slice(0, 100);
    tellEnd(command, name, (output) => `${name}: ${sentence(output)}`);
  });
});
