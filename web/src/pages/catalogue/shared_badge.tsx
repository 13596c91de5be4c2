// Whose a model is, if that is worth a word: a shared one, one whose sharing is about to change, and one of another account that is no
// longer shared.

import { sharingAskedFor } from '../../data/shared_models';
import type { Model } from '../../data/types';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { Badge } from '../../ui/parts';

/** `short` is for where the publisher stands before the name of the model. */
export function SharedBadge({ model: { model_id, owned, shared, publisher }, short = false }: { model: Model; short?: boolean }) {
  const other = brief(publisher ?? text.admin.unknown);
  const asked = sharingAskedFor(model_id);
  if (asked !== undefined) return <Badge tone="busy">{asked ? text.catalogue.sharing : text.catalogue.unsharing}</Badge>;
  if (owned) return shared ? <Badge tone="quiet">{text.catalogue.state.shared}</Badge> : null;
  if (shared) return <Badge tone="quiet">{short ? text.catalogue.state.shared : text.catalogue.sharedBy(other)}</Badge>;
  return (
    <Badge tone="warn" title={text.catalogue.withdrawnWhy(other)}>
      {text.catalogue.withdrawn}
    </Badge>
  );
}
