// Says how an upload has ended, on whatever page the person is by then.

import { effect, untracked } from '@preact/signals';

import { endedUpload } from '../data/ends';
import { modelName } from '../data/names';
import { wordsOf } from '../data/problem';
import { text } from '../text';
import { brief, visible } from '../text/visible';
import { notice } from './notices';

effect(() => {
  const upload = endedUpload.value;
  if (!upload) return;
  untracked(() => {
    const model = brief(modelName(upload.model_id));
    if (upload.error === null) notice(text.catalogue.uploadEnded.done(model), 'good', upload.model_id);
    else notice(text.catalogue.uploadEnded.failed(model, visible(wordsOf(upload.error))), 'bad', upload.model_id);
  });
});
