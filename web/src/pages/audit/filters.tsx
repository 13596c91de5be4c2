// What the trail is filtered by. All of it stands in the address.

import { members } from '../../data/account';
import { NAMES, type AuditFilter } from '../../data/audit';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { change, query } from '../../ui/router';
import { TargetField } from './target_field';
import type { Names } from './targets';

const GROUPS = Object.keys(text.audit.groups) as (keyof typeof text.audit.groups)[];

export function AuditFilters({ filter, names }: { filter: AuditFilter; names: Names }) {
  const put = (name: keyof AuditFilter) => (event: Event) => {
    change({ [name]: (event.currentTarget as HTMLInputElement).value });
  };
  const known = members.rows.all();
  const { action, actor } = filter;
  const cleared = Object.fromEntries(NAMES.map((name) => [name, null]));
  return (
    <div class="audit-filters" role="search" aria-label={text.audit.filters}>
      <div class="field">
        <label for="audit-action">{text.audit.what}</label>
        <select id="audit-action" value={action} onChange={put('action')}>
          <option value="">{text.audit.anything}</option>
          {GROUPS.map((group) => (
            <option key={group} value={group}>
              {text.audit.groups[group]}
            </option>
          ))}
          {action !== '' && !GROUPS.some((group) => group === action) && <option value={action}>{brief(action)}</option>}
        </select>
      </div>
      <div class="field">
        <label for="audit-actor">{text.audit.who}</label>
        <select id="audit-actor" value={actor} onChange={put('actor')}>
          <option value="">{text.audit.anybody}</option>
          {known.map(({ user_id, email }) => (
            <option key={user_id} value={user_id}>
              {brief(email)}
            </option>
          ))}
          {actor !== '' && !known.some(({ user_id }) => user_id === actor) && <option value={actor}>{brief(names.get(actor) ?? text.audit.whoOther(actor))}</option>}
        </select>
      </div>
      <TargetField id={filter.subject} names={names} choose={(id) => change({ subject: id })} />
      <div class="field day">
        <label for="audit-since">{text.audit.since}</label>
        <input id="audit-since" type="date" value={filter.since} max={filter.until || undefined} onChange={put('since')} />
      </div>
      <div class="field day">
        <label for="audit-until">{text.audit.until}</label>
        <input id="audit-until" type="date" value={filter.until} min={filter.since || undefined} onChange={put('until')} />
      </div>
      {NAMES.some((name) => query.value.has(name)) && (
        <button type="button" class="button quiet" onClick={() => change(cleared)}>
          {text.audit.clear}
        </button>
      )}
    </div>
  );
}
