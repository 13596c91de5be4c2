// Says how the update of an agent has ended, on whatever page the person is by then.

import { effect, untracked } from '@preact/signals';

import { endedUpdate } from '../data/ends';
import { deviceName } from '../data/names';
import { brief, sentence } from '../text/visible';
import { tellEnd } from './carry_out';

effect(() => {
  const command = endedUpdate.value;
  if (!command) return;
  untracked(() => {
    const name = brief(deviceName(command.device_id));
    tellEnd(command, name, (output) => `${name}: ${sentence(output)}`, command.device_id);
  });
});
