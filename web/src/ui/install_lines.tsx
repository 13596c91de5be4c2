// Which system an install line is for, what the release lacks for it, and the command that brings a release.

import type { Signal } from '@preact/signals';

import { publishes, supports, type Installer } from '../data/install';
import { ownFirst, type System } from '../data/system';
import { text } from '../text';
import { Chips } from './choice';
import { CopyBox } from './secret';

import './records.css';

/** The systems, that of the reader first. */
export function SystemChoice({ system }: { system: Signal<System> }) {
  const options = ownFirst().map((value) => ({ value, words: text.add.systems[value] }));
  // A second press on the chosen one changes nothing: there is always a system.
  const choose = (value: string): void => void (system.value = options.find((one) => one.value === value)?.value ?? system.value);
  return <Chips label={text.add.system} options={options} value={system.value} choose={choose} />;
}

/** Says what the release lacks for a system. */
export function Lacking({ installer, system }: { installer: Installer; system: System }) {
  if (supports(installer, system)) return null;
  return (
    <div role="status">
      <p>{text.add.unsupported[system]}</p>
      {system !== 'linux' && supports(installer, 'linux') && <p>{text.add.unsupportedNext}</p>}
    </div>
  );
}

/** Says that there is no release, and how the backend gets one. */
export function Unpublished({ installer }: { installer: Installer }) {
  if (publishes(installer)) return null;
  return (
    <div class="banner quiet unpublished">
      <p>{text.add.unpublished}</p>
      <CopyBox value="link-backend releases pull URL" label={text.add.unpublishedLabel} primary={false} />
    </div>
  );
}
