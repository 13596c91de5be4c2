// Says how a deployment has ended, on whatever page the person is by then.

import { effect, untracked } from '@preact/signals';

import { endedDeployment } from '../data/ends';
import { deviceName, modelName } from '../data/names';
import { text } from '../text';
import { brief, sentence } from '../text/visible';
import { deploymentWork, notice, withdraw } from './notices';

effect(() => {
  const deployment = endedDeployment.value;
  if (!deployment) return;
  untracked(() => {
    const work = deploymentWork(deployment);
    // Who has cancelled one knows it.
    if (deployment.state === 'cancelled') return withdraw(work);
    const [model, device] = [brief(modelName(deployment.model_id, deployment.alias)), brief(deviceName(deployment.device_id))];
    if (deployment.state === 'completed') notice(text.deploying.completed(model, device), 'good', work);
    else notice(text.deploying.failed(model, device, sentence(deployment.reason ?? '')), 'bad', work);
  });
});
