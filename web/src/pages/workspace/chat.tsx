// The conversation: questions, answers, why one did not come, and the field for the next question.

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

import { text } from '../../text';
import { running, spoken } from './asking';
import { Composer } from './composer';
import { FailureCard } from './failure_card';
import { conversation } from './state';
import { Turns } from './turns';

import './chat.css';

/** How far from its end the log may be to follow an answer, in pixels. */
const NEAR = 60;

export function Chat() {
  const log = useRef<HTMLElement>(null);
  const { turns, id } = conversation.value;
  const follows = useRef(true);
  const asked = running.value?.turn;
  const toEnd = (): void => {
    if (log.current && follows.current) log.current.scrollTop = log.current.scrollHeight;
  };
  const goToEnd = (): void => {
    follows.current = true;
    toEnd();
  };
  useEffect(goToEnd, [id]);
  // What another tab asks takes nobody away from what they read, unless the log stands at its end.
  useEffect(() => {
    if (asked !== undefined) goToEnd();
  }, [asked]);
  useLayoutEffect(toEnd);
  const scrolled = (): void => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = log.current ?? {};
    follows.current = scrollHeight - scrollTop - clientHeight < NEAR;
  };
  return (
    <>
      <section ref={log} id="log" class="log" aria-label={text.workspace.log} tabIndex={0} onScroll={scrolled}>
        {turns.length === 0 && (
          <div class="welcome">
            <h2>{text.workspace.askTitle}</h2>
            <p class="soft">{text.workspace.ask}</p>
          </div>
        )}
        <Turns key={id} turns={turns} log={log} grown={toEnd} />
        <FailureCard />
      </section>
      <p class="visually-hidden" role="status" aria-live="polite" aria-atomic="false">
        {spoken.value.map(({ number, words }) => (
          <span key={number}>{words} </span>
        ))}
      </p>
      <Composer />
    </>
  );
}
