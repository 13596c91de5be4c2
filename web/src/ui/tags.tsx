// The tags of a device, on as many lines as they need.

import { useRef } from 'preact/hooks';

import { text } from '../text';
import { brief } from '../text/visible';
import { Foreign } from './parts';

import './tags.css';

/** Shows at most `most` tags. The others are counted in a link to where all are. */
export function Tags({ tags, most = tags.length, all = '' }: { tags: readonly string[]; most?: number; all?: string }) {
  const group = useRef<HTMLSpanElement>(null);
  const rest = tags.slice(most);
  return (
    <span ref={group} class="whole-tags" role="group" aria-label={text.about.tags} tabIndex={-1}>
      {tags.slice(0, most).map((tag) => (
        <Foreign key={tag} class="tag">
          {tag}
        </Foreign>
      ))}
      {rest.length > 0 && (
        // Where all tags are there is no link to them, and the focus would go with it.
        <a href={all} title={brief(rest.join(', '), 500)} onClick={() => group.current?.focus()}>
          {text.device.moreTags(rest.length)}
        </a>
      )}
    </span>
  );
}
