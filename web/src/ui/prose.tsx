// A sentence as it is read: what stands between backticks, such as a command, is code.

import { visible } from '../text/visible';

export function Prose({ words }: { words: string }) {
  return (
    <>
      {visible(words).split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </>
  );
}
