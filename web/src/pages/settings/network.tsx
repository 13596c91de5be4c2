// How administrators of browsers allow the workspace to reach models on the machines of their people, without a question.

import { text } from '../../text';
import { browserPolicy } from '../../ui/browser_policy';
import { CopyBox } from '../../ui/secret';

export function NetworkCard() {
  const policy = browserPolicy(location.origin);
  return (
    <section class="card settings-card" aria-labelledby="network-title" id="network">
      <h2 id="network-title">{text.settings.network}</h2>
      <p class="hint">{text.settings.networkHint}</p>
      <h3>{text.settings.policyOf.chromium}</h3>
      <p>{text.settings.policyChromium}</p>
      <CopyBox value={policy} label={text.settings.policyChromiumLabel} primary={false} />
      <h3>{text.settings.policyOf.firefox}</h3>
      <p>{text.settings.policyFirefox}</p>
    </section>
  );
}
