// Does something to a deployment once, and says how that ended.

import { act, pending, type Action } from '../data/actions';
import { whyNotSucceeded } from '../data/commands';
import { noteRefusal } from '../data/permission';
import type { Command, Deployment } from '../data/types';
import { text } from '../text';
import './deployment_notice';
import { deploymentWork, failure, notice } from './notices';

/** Carries out an action. While one is under way for the deployment, a second one, as of a double click, has no effect. */
export function carryOut(action: Action, deployment: Deployment, name: string, port?: number): void {
  if (pending.peek().has(deployment.deployment_id)) return;
  const done = (): string => (port === undefined ? text.models.done[action](name) : text.models.moved(name, port));
  const work = deploymentWork(deployment);
  act(action, deployment, port).then(
    (command) => {
      if (command) tellEnd(command, name, done, work);
      else notice(done(), 'good', work);
    },
    (error: unknown) => {
      noteRefusal(error);
      failure(error);
    },
  );
}

/** Says how a command has ended; `done` makes a sentence of the output of one that has succeeded. `work` is what its notices are about. */
export function tellEnd(command: Command, name: string, done: (output: string) => string, work: string): void {
  const why = whyNotSucceeded(command);
  const { result } = command;
  if (why === null) notice(done(result?.output ?? ''), 'good', work);
  else notice(text.models.failed(name, why), result?.status === 'superseded' ? 'good' : 'bad', work);
}
