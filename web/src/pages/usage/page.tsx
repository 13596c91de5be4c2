// Usage of the account over time: a chart with its numbers behind it, totals of each group, and a file of the same
// groups. What is shown is in the address.

import { me } from '../../data/store';
import { BUCKETS, GROUPINGS, loadUsage, MEASURES, PERIODS, type Measure, type Question, type Usage } from '../../data/usage';
import { text } from '../../text';
import { download } from '../../ui/download';
import { Icon } from '../../ui/icon';
import { useLoaded } from '../../ui/loaded';
import { ListState } from '../../ui/records';
import { change, query } from '../../ui/router';
import { useTitle } from '../../ui/title';
import { csv } from './csv';
import { Shown } from './shown';

import './usage.css';

/** How often the page is loaded anew while it is in sight, in milliseconds: every period goes on to now. */
const EVERY = 60_000;

export function UsagePage() {
  useTitle(text.usage.title);
  const question = questionOf(query.value);
  const measure = MEASURES.find((known) => known === query.value.get('show')) ?? 'tokens';
  const { period, by, bucket } = question;
  const { value: usage, loading, again } = useLoaded(`${period} ${by} ${bucket}`, (signal) => loadUsage(question, Date.now(), signal), { ready: me.value !== null, every: EVERY });
  return (
    <div class="page">
      <header class="page-head">
        <h1>{text.usage.title}</h1>
        <span class="spacer" />
        <div class="page-actions">
          <button type="button" class="button" onClick={again}>
            {text.usage.reload}
          </button>
          <Export usage={usage} />
        </div>
      </header>
      <div class="page-scroll">
        <Choices question={question} measure={measure} usage={usage} />
        <ListState loading={loading} count={usage ? 1 : 0} title={text.usage.failedTitle} retry={again}>
          {usage && <Shown usage={usage} measure={measure} />}
        </ListState>
      </div>
    </div>
  );
}

/** Returns what an address asks for. */
function questionOf(parameters: URLSearchParams): Question {
  const period = PERIODS.find((known) => known === parameters.get('period')) ?? 'week';
  const [usual = 'day'] = BUCKETS[period];
  return {
    period,
    by: GROUPINGS.find((known) => known === parameters.get('by')) ?? 'model',
    bucket: BUCKETS[period].find((known) => known === parameters.get('bucket')) ?? usual,
  };
}

function Export({ usage }: { usage: Usage | null }) {
  const save = (shown: Usage): void => download('usage.csv', 'text/csv;charset=utf-8', csv(shown));
  return (
    <button type="button" class="button" disabled={!usage || usage.all.total.inferences === 0} onClick={() => usage && save(usage)}>
      <Icon name="download" />
      {text.usage.csv}
    </button>
  );
}

function Choices({ question: { period, by, bucket }, measure, usage }: { question: Question; measure: Measure; usage: Usage | null }) {
  const words = text.usage;
  const put = (name: string, usual: string) => (value: string) => change({ [name]: value === usual ? null : value });
  const [usual = 'day', ...others] = BUCKETS[period];
  return (
    <div class="usage-choices">
      <Choice id="usage-period" label={words.period} value={period} all={PERIODS} names={words.periods} put={(value) => change({ period: value === 'week' ? null : value, bucket: null })} />
      <Choice id="usage-by" label={words.by} value={by} all={GROUPINGS} names={words.bys} put={put('by', 'model')} />
      <Choice id="usage-bucket" label={words.bucket} value={bucket} all={[usual, ...others]} names={words.buckets} put={put('bucket', usual)} />
      <Choice id="usage-show" label={words.measure} value={measure} all={measuresOf(usage, measure)} names={words.measures} put={put('show', 'tokens')} />
    </div>
  );
}

/** Returns what can be shown: audio and images only if there are any, or if one of them was chosen. */
function measuresOf(usage: Usage | null, chosen: Measure): readonly Measure[] {
  const { audio_ms: audio = 0, images = 0 } = usage?.all.total ?? {};
  return MEASURES.filter((one) => one === chosen || (one === 'audio' ? audio > 0 : one === 'images' ? images > 0 : true));
}

interface ChoiceProps<T extends string> {
  id: string;
  label: string;
  value: T;
  all: readonly T[];
  names: Record<T, string>;
  put: (value: string) => void;
}

function Choice<T extends string>({ id, label, value, all, names, put }: ChoiceProps<T>) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => put(event.currentTarget.value)}>
        {all.map((one) => (
          <option key={one} value={one}>
            {names[one]}
          </option>
        ))}
      </select>
    </div>
  );
}
