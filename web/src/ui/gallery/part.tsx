// A section of the gallery.

import type { ComponentChildren } from 'preact';

export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card gallery-part" aria-label={title}>
      <h2>{title}</h2>
      <div class="choices">{children}</div>
    </section>
  );
}
