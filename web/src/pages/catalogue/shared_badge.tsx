// Whose a model is, if that is worth a word: a shared one, and one of another account that is no longer shared.

import type { Model } from '../../data/types';
import { text } from '../../text';
import { visible } from '../../text/visible';
import { Badge } from '../../ui/parts';

export function SharedBadge({ model: { owned, shared, publisher } }: { model: Model }) {
  const other = visible(publisher ?? text.admin.unknown).slice(0, 100);
  if (owned) return shared ? <Badge tone="quiet">{text.catalogue.state.shared}</Badge> : null;
  if (shared) return <Badge tone="quiet">{text.catalogue.sharedBy(other)}</Badge>;
  return (
    <Badge tone="warn" title={text.catalogue.withdrawnWhy(other)}>
      {text.catalogue.withdrawn}
    </Badge>
  );
}
