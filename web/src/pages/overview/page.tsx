// What needs a person first, then the counts of the account and what has happened last. With no device: how to begin.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { loadSummary, recent, summary, summaryLoading, watchSummary } from '../../data/operator';
import type { Summary } from '../../data/types';
import { language, text } from '../../text';
import { Failed, Foreign, Outdated, Skeleton } from '../../ui/parts';
import { useTitle } from '../../ui/title';
import { madeKeys } from '../add/made';
import { Attention } from './attention';
import { Newest } from './newest';
import { areAhead, FirstSteps } from './steps';

import './overview.css';

export function OverviewPage() {
  useTitle(text.overviewPage.title);
  useEffect(() => {
    const ends = [watchSummary(), recent.watch()];
    return () => ends.forEach((end) => end());
  }, []);
  const current = summary.value;
  const { state, error } = summaryLoading.value;
  // Steps that were shown stay for this visit, so that whoever took the last one sees where it leads.
  const begun = useSignal(false);
  const steps = current !== null && (areAhead(current) || begun.value || madeKeys().length > 0);
  useEffect(() => {
    if (steps) begun.value = true;
  }, [steps]);
  const retry = (): void => void loadSummary();
  return (
    <div class="page overview-page">
      <header class="page-head">
        <h1>{text.overviewPage.title}</h1>
      </header>
      {state === 'failed' && current && <Outdated title={text.overviewPage.failedTitle} error={error} retry={retry} />}
      {state === 'failed' && !current && <Failed title={text.overviewPage.failedTitle} error={error} retry={retry} />}
      {state !== 'failed' && !current && <Skeleton lines={8} />}
      {steps && <FirstSteps current={current} />}
      {current && current.devices.total > 0 && <Account current={current} />}
    </div>
  );
}

function Account({ current }: { current: Summary }) {
  return (
    <>
      <Attention current={current} />
      <Tiles current={current} />
      <div class="overview-columns">
        <Newest />
        <Versions current={current} />
      </div>
    </>
  );
}

const number = (count: number): string => count.toLocaleString(language);

function Tiles({ current: { devices, deployments, models, repairs, operations, usage_today: usage } }: { current: Summary }) {
  const words = text.overviewPage;
  const tokens = usage.prompt_tokens + usage.completion_tokens;
  return (
    <section aria-label={words.counts}>
      <ul class="tiles">
        <Tile name={words.devices} href="/devices?select=state%3Donline" value={words.of(devices.online, devices.total)} more={devices.updating > 0 ? words.updating(devices.updating) : ''} />
        <Tile name={words.deployments} href="/deployments?state=serving" value={words.of(deployments.serving, deployments.total)} more={deployments.serving_offline > 0 ? words.away(deployments.serving_offline) : ''} />
        <Tile name={words.progress} href="/deployments?state=progress" value={number(deployments.in_progress)} />
        <Tile name={words.models} href="/models?state=own" value={number(models.total)} />
        <Tile name={words.repairs} href="/repairs?state=sent" value={number(repairs.sent)} />
        <Tile name={words.operations} href="/operations?state=running" value={number(operations.running)} />
        <Tile
          name={words.tokens}
          href="/usage?period=today"
          value={number(tokens)}
          more={words.requests(usage.requests, usage.prompt_tokens, usage.completion_tokens)}
        />
      </ul>
    </section>
  );
}

function Tile({ name, href, value, more = '' }: { name: string; href: string; value: string; more?: string }) {
  return (
    <li>
      <a class="tile" href={href}>
        <span class="soft small">{name}</span>
        <strong class="number">{value}</strong>
        {more && <span class="soft small">{more}</span>}
      </a>
    </li>
  );
}

function Versions({ current: { versions } }: { current: Summary }) {
  return (
    <section class="card">
      <h2>{text.overviewPage.versions}</h2>
      <ul class="version-list">
        {versions.map(({ version, devices }) => (
          <li key={version}>
            <a href={`/devices?select=${encodeURIComponent(`version=${version}`)}`}>
              <Foreign class="number">{version}</Foreign>
            </a>
            <span class="soft number">{text.overviewPage.versionOf(devices)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
