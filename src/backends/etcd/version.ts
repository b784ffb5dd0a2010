import type { EtcdClient } from './client.ts';

/**
 * Releases of etcd from which on an answer to a request for progress can be believed, and comes:
 *
 * ```text
 *   etcd-io/etcd#15220   the answer could overtake events that it claims to stand behind     mended in 3.4.25, 3.5.8
 *   etcd-io/etcd#17507   no answer on a new watch without events                              mended in 3.4.31, 3.5.13
 * ```
 */
const PATCH_MIN: Readonly<Record<string, number>> = { '3.4': 31, '3.5': 13 };

/** Whether a member of this version proves what it says of its progress. What is no version does not. */
export function hasSoundProgress(version: unknown): boolean {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)(?:[-+].*)?$/.exec(String(version)) ?? [];
  if (major === undefined) return false;
  const patchMin = PATCH_MIN[`${major}.${minor}`];
  if (patchMin !== undefined) return Number(patch) >= patchMin;
  return Number(major) > 3 || (Number(major) === 3 && Number(minor) > 5);
}

/**
 * What a member says of itself; `undefined` of one that does not say it, which is as one that is too old. It is no error of the
 * watch: that one goes on, and ends by itself if the member is unwell.
 */
export async function versionOf(
  client: EtcdClient,
  endpoint: string,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  try {
    return await client.callMember('maintenance/status', {}, { endpoint, signal }, ({ version }) => version);
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}
