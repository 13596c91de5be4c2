// How this browser shows what is on the pages.

import { text } from '../../text';
import { ago, dated } from '../../text/format';
import { now } from '../../ui/clock';
import { exactTimes } from '../../ui/exact_times';
import { Switch } from '../../ui/switch';

/** How long ago the time is that stands as an example, in milliseconds. */
const EXAMPLE = 12 * 60_000;

export function DisplayCard() {
  const words = text.settings;
  const example = new Date(now.value - EXAMPLE).toISOString();
  const hint = words.exactTimesHint(dated(example, now.value), ago(example, now.value));
  return (
    <section class="card settings-card" aria-labelledby="display-title" id="display">
      <h2 id="display-title">{words.display}</h2>
      <Switch label={words.exactTimes} hint={hint} on={exactTimes.value} put={(on) => (exactTimes.value = on)} />
    </section>
  );
}
