// Shows a sentence. Text between backticks, such as a command, is code.

import { brief, sentence, visible } from '../text/visible';

/** Text between two backticks. An unpaired backtick is literal. */
const CODE = /`([^`]+)`/;

/** The longest sentence of somebody else in a row, in code units. */
const MOST = 500;

export function Prose({ words }: { words: string }) {
  return (
    <>
      {visible(words).split(CODE).map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </>
  );
}

/** What a device or the backend said, in a row of a list: whole where the pointer rests on it, should the row have no room. */
export function Said({ words, class: name = '' }: { words: string; class?: string }) {
  if (words === '') return null;
  const said = brief(sentence(words), MOST);
  return (
    <bdi class={`foreign small sentence ${name}`} title={said.replaceAll(new RegExp(CODE, 'g'), '$1')}>
      <Prose words={said} />
    </bdi>
  );
}
