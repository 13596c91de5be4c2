// The names of things by id, from what is loaded. A component that asks is drawn again when a name changes.

import { nameOf } from './model_name';
import { devices, models } from './store';

export function modelName(id: string, otherwise = id): string {
  void models.revision.value;
  const model = models.row(id)?.value;
  return model ? nameOf(model) : otherwise;
}

export function deviceName(id: string): string {
  void devices.revision.value;
  return devices.row(id)?.value.name ?? id;
}
