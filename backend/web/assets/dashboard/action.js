// Carries out what a button of a deployment asks for, and says how it went, as of every command.

import * as api from '../shared/api.js';
import { sentence } from '../shared/format.js';
import { notice } from '../shared/notice.js';

const ACTIONS = {
  repair: { doing: 'Repairing', done: 'is repaired', send: api.repair },
  serve: { doing: 'Starting', done: 'is served', send: api.serve },
  stop: { doing: 'Stopping', done: 'is stopped', send: api.stop },
  remove: { doing: 'Removing', done: 'is removed', send: api.uninstall },
};

/** Carries out `action` on a deployment; `reload` shows what it changed. */
export async function carryOut(action, item, reload) {
  const what = `${item.model} on ${item.device}`;
  if (action === 'remove' && !confirm(`Remove ${what}? It can be deployed again later.`)) return;
  try {
    if (action === 'redeploy') await redeploy(item, what, reload);
    else if (action === 'cancel') await api.cancelDeployment(item.deployment_id);
    else await command(ACTIONS[action], item, what);
  } catch (error) {
    notice(`${what}: ${api.explain(error)}`, 'bad');
  }
  reload();
}

async function command({ doing, done, send }, item, what) {
  const sent = await send(item.model_id, item.device_id);
  await follow(sent, { doing: `${doing} ${what}`, what, done: () => `${what} ${done}.` });
}

/**
 * Follows a command until it has ended, and says how it went. `doing` is said meanwhile; `done`
 * makes a sentence of the device's output.
 */
export async function follow(sent, { doing, what, done }) {
  const change = notice(`${doing}…`, 'busy');
  try {
    const ended = await api.outcome(sent, {
      heard: ({ state }) => {
        if (state === 'processed') change(`${doing}: the device is at work…`, 'busy');
      },
    });
    if (ended.result?.status === 'superseded') {
      change(`${what}: a newer command took its place, which counts.`, 'good');
    } else if (ended.result?.status === 'succeeded') change(done(ended.result.output), 'good');
    else if (ended.result) change(`${what}: ${sentence(ended.result.output)}`, 'bad');
    else change(`${what}: the command expired before the device took it.`, 'bad');
  } catch (error) {
    change(`${what}: ${api.explain(error)}`, 'bad');
  }
}

async function redeploy(item, what, reload) {
  const started = await api.deploy({
    model_id: item.model_id,
    device_id: item.device_id,
    serve: item.serving?.is_serving ?? true,
  });
  const change = notice(`Deploying ${what}…`, 'busy');
  reload();
  const ended = await api.deploymentOutcome(started);
  if (ended.state === 'completed') change(`${what} is deployed.`, 'good');
  else change(`${what}: ${sentence(ended.reason ?? ended.state)}`, 'bad');
}
