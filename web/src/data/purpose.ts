// What a model is for, as far as it is known: its file says it for language models (decision 0093), its plugin for others.

import type { Deployment, Model, Task } from './types';

export type Purpose = Task | 'transcription' | 'images' | 'sounds';

const OF_PLUGINS: Readonly<Record<string, Purpose>> = {
  audio_transcriber: 'transcription',
  image_classifier: 'images',
  audio_classifier: 'sounds',
};

/** Returns what a model is for, or `null` if neither its file was read nor its plugin is one of the release. */
export function purposeOf(model: Model | undefined, deployment?: Deployment): Purpose | null {
  return deployment?.task ?? model?.facts?.task ?? (model && Object.hasOwn(OF_PLUGINS, model.plugin) ? OF_PLUGINS[model.plugin] : null) ?? null;
}
