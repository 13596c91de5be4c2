// The dashboard: loads everything every few seconds while somebody looks, and hands it to the
// sections.

import * as api from '../shared/api.js';
import { notice } from '../shared/notice.js';
import { open } from '../shared/page.js';
import { allowlistSection } from './allowlist.js';
import { deploymentsSection } from './deployments.js';
import { devicesSection } from './devices.js';
import { installSection } from './install.js';
import { keysSection } from './keys.js';
import { modelsSection } from './models.js';

/** The time between two loads, in milliseconds. */
const INTERVAL = 2_000;

open(async (root) => {
  const reload = () => load().catch(failed);
  const sections = [
    installSection(reload),
    deploymentsSection(reload),
    devicesSection(reload),
    modelsSection(reload),
    keysSection(reload),
    allowlistSection(reload),
  ];
  let broken = null;

  async function load() {
    const [devices, models, deployments, keys, allowlist] = await Promise.all([
      api.devices(),
      api.models(),
      api.deployments(),
      api.keys(),
      api.allowlist(),
    ]);
    for (const section of sections) section.show({ devices, models, deployments, keys, allowlist });
    broken?.('The backend answers again.', 'good');
    broken = null;
  }

  function failed(error) {
    const text = `What you see may be old. ${api.explain(error)}`;
    if (broken) broken(text, 'bad');
    else broken = notice(text, 'bad');
  }

  await load();
  root.append(...sections.map((section) => section.card));
  follow(reload);
});

async function follow(reload) {
  for (;;) {
    await api.pause(INTERVAL);
    if (document.visibilityState === 'visible') await reload();
  }
}
