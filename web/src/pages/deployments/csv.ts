// The deployments that the filter shows as CSV, safe to open in a spreadsheet. Pure. The export of the backend knows neither
// the search nor the states of the page, and has deployments of models that were removed.

import { text } from '../../text';
import { csvDocument } from '../../ui/csv';
import { portOf, type Named } from './view';

/** Returns a document with a line for each deployment. The columns are named as in the export of the backend. */
export function csv(shown: readonly Named[]): string {
  const lines = shown.map(({ deployment, model, device }) => [
    deployment.deployment_id,
    deployment.model_id,
    model,
    deployment.publisher,
    deployment.device_id,
    device,
    deployment.alias,
    portOf(deployment),
    deployment.state,
    deployment.reason,
    String(deployment.stale),
    deployment.serving?.state,
    deployment.created_at,
    deployment.updated_at,
  ]);
  return csvDocument(text.deployed.csvColumns, lines);
}
