/** Lines of a watch stream for tests. */
export interface LineFields {
  readonly type?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly revision: number;
  readonly uid?: string;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** One event as a line of JSON, without a line break. */
export function line(fields: LineFields): string {
  const { type = 'MODIFIED', name = 'a', namespace = 'ns', revision, uid = `uid-${name}`, spec = {}, status } = fields;
  const metadata = { name, namespace, uid, resourceVersion: String(revision) };
  return JSON.stringify({ type, object: { apiVersion: 'v1', kind: 'Pod', metadata, spec, status } });
}

export function bookmark(revision: number): string {
  const metadata = { resourceVersion: String(revision), creationTimestamp: null };
  return JSON.stringify({ type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'Pod', metadata } });
}

/** Lines as the text of a stream. */
export function stream(...lines: readonly string[]): string {
  return lines.map((one) => `${one}\n`).join('');
}
