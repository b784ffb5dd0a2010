import { shown } from '../../types/shown.ts';
import { refuse } from './api-status.ts';
import { isDryRun } from './query-values.ts';
import { isRecord } from './stored-object.ts';

/** `metav1.DeleteOptions`, as far as they are known here. A grace period passes at once: nothing runs that would have to stop. */
export interface DeleteRequest {
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
  /** `undefined`: as the finalizers of the object say. */
  readonly propagationPolicy: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly isDryRun: boolean;
}

const POLICIES: readonly string[] = ['Background', 'Foreground', 'Orphan'];

/** From the body, and from the query for what the body does not say. Throws `RequestRefused`. */
export function deleteRequest(body: unknown, query: URLSearchParams): DeleteRequest {
  if (body !== undefined && !isRecord(body)) throw refuse(400, 'the delete options are no object');
  const options = body ?? {};
  const kind = options.kind ?? 'DeleteOptions';
  if (kind !== 'DeleteOptions') {
    throw refuse(400, `the body of a deletion is of kind ${shown(kind)}, expected DeleteOptions`);
  }
  const preconditions = options.preconditions ?? {};
  if (!isRecord(preconditions)) throw refuse(400, 'the preconditions are no object');
  const wanted: Record<string, string> = {};
  for (const name of ['uid', 'resourceVersion']) {
    const value = preconditions[name] ?? undefined;
    if (value === undefined) continue;
    if (typeof value !== 'string') throw refuse(400, `preconditions.${name} is no text`);
    wanted[name] = value;
  }
  const policy = options.propagationPolicy ?? query.get('propagationPolicy') ?? undefined;
  if (policy !== undefined && (typeof policy !== 'string' || !POLICIES.includes(policy))) {
    throw refuse(422, `propagationPolicy: Unsupported value: ${JSON.stringify(policy)}`);
  }
  const dryRun = options.dryRun ?? query.getAll('dryRun');
  if (!Array.isArray(dryRun)) throw refuse(400, 'dryRun is no list');
  return {
    preconditions: wanted,
    propagationPolicy: policy as DeleteRequest['propagationPolicy'],
    isDryRun: isDryRun(dryRun),
  };
}
