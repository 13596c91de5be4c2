// A time in the future: how far away it is, and that it is close.

import { text } from '../text';
import { moment } from '../text/format';
import { now } from './clock';
import { future } from './exact_times';

export function Until({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="soft">{text.admin.noEnd}</span>;
  return (
    <time dateTime={at} title={moment(at)}>
      {Date.parse(at) <= now.value ? text.admin.ended : future(at)}
    </time>
  );
}
