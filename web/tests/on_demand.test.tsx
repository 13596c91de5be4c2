// A dialog whose code comes when it is opened, and one whose code is gone.

import { expect, it, vi } from 'vitest';

import { Dialog } from '../src/ui/dialog';
import { Notices } from '../src/ui/notices';
import { onDemand } from '../src/ui/on_demand';
import { held } from './backend';
import { place, settled } from './placed';

const here = place();
const Shown = ({ close }: { close: () => void }) => <Dialog title="It is there" close={close}>{null}</Dialog>;

it('is shown once its code has come', async () => {
  const OnDemand = onDemand(async () => Shown);
  here.show(<OnDemand close={() => undefined} />);
  await settled('It is there');
});

it('says that its code is gone, and closes', async () => {
  const OnDemand = onDemand<{ close: () => void }>(() => Promise.reject(new TypeError('Failed to fetch dynamically imported module')));
  const close = vi.fn();
  here.show(<><OnDemand close={close} /><Notices /></>);
  await settled('A part of the page could not be loaded');
  expect(close).toHaveBeenCalledOnce();
});

it('closes nothing once it is closed itself', async () => {
  const code = held<typeof Shown>();
  const OnDemand = onDemand(() => code.promise.then(() => Promise.reject(new TypeError('gone'))));
  const close = vi.fn();
  here.show(<><OnDemand close={close} /><Notices /></>);
  // Effects run a moment after what is drawn.
  await new Promise((resolve) => setTimeout(resolve, 100));
  here.show(<Notices />);
  await new Promise((resolve) => setTimeout(resolve, 100));
  code.keep(Shown);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(close).not.toHaveBeenCalled();
  expect(document.body.textContent).not.toContain('could not be loaded');
});
