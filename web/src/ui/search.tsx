// The search field of a list whose things belong to a model and a device, with a filter for each. All is in the address.

import { useComputed } from '@preact/signals';

import { deviceName } from '../data/names';
import type { Term } from '../data/selection';
import { devices, models } from '../data/store';
import { language, text } from '../text';
import { brief } from '../text/visible';
import { Select } from './choice';
import { DeviceChoice } from './device_choice';
import { Icon } from './icon';
import { Foreign } from './parts';
import { change } from './router';
import { SearchField } from './search_field';
import { SelectionChips, SelectionMenu } from './selection';

interface Props {
  search: string;
  model: string;
  device: string;
  /** What the devices are selected by. */
  terms: readonly Term[];
}

export function SearchAndFilters({ search, model, device, terms }: Props) {
  const all = useComputed(() => {
    void devices.revision.value;
    return devices.all();
  });
  void models.revision.value;
  const options = models
    .all()
    .map(({ model_id: value, name: words }) => ({ value, words }))
    .sort((a, b) => a.words.localeCompare(b.words, language));
  return (
    <div class="filters" role="search" aria-label={text.list.filters}>
      <SearchField label={text.list.search} words={search} />
      <Select label={text.list.model} all={text.list.allModels} options={options} value={model} choose={(value) => change({ model_id: value })} />
      {all.value.length > 1 && <DeviceChoice choose={(id) => change({ device_id: id })} />}
      <SelectionMenu label={text.list.devices} devices={all} terms={terms} />
      <SelectionChips terms={terms} />
      {device !== '' && (
        <span class="chip">
          <Foreign>{deviceName(device)}</Foreign>
          <button type="button" aria-label={text.devices.removeFilter(brief(deviceName(device)))} onClick={() => change({ device_id: null })}>
            <Icon name="close" />
          </button>
        </span>
      )}
    </div>
  );
}
