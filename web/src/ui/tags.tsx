// The tags of a device, on as many lines as they need.

import { text } from '../text';
import { brief } from '../text/visible';
import { Foreign } from './parts';

import './tags.css';

/** Shows at most `most` tags. The others are counted in a link to where all are. */
export function Tags({ tags, most = tags.length, all = '' }: { tags: readonly string[]; most?: number; all?: string }) {
  const rest = tags.slice(most);
  return (
    <span class="whole-tags" role="group" aria-label={text.about.tags}>
      {tags.slice(0, most).map((tag) => (
        <Foreign key={tag} class="tag">
          {tag}
        </Foreign>
      ))}
      {rest.length > 0 && (
        <a href={all} title={brief(rest.join(', '), 500)}>
          {text.device.moreTags(rest.length)}
        </a>
      )}
    </span>
  );
}
