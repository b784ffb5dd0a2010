import type { BackendKeyValue, BackendRangeRequest, BackendRangeResponse, ByteRange } from '../../types/backend.ts';
import { BackendError } from '../../types/errors.ts';
import type { Revision } from '../../types/revision.ts';
import type { CallOptions, EtcdClient } from './client.ts';
import { EtcdRefusal, Unreadable } from './errors.ts';
import { wireSelection } from './txn.ts';
import { integerOf, listOf, objectOf, rowOf } from './wire.ts';

/** Operations that etcd takes in one transaction, unless it is told otherwise. */
const OPERATIONS_MAX = 128;
/** How often a list of several transactions begins anew because what it had begun at was compacted. */
const TRIES_MAX = 5;

/**
 * Ranges at one revision. Several are one transaction; above etcd's limit several transactions, of which the first one tells
 * the revision that the others are read at. Throws what `EtcdClient.call` throws.
 *
 * ```text
 *   300 ranges    128 of the newest -> revision 7    128 at 7    44 at 7
 * ```
 */
export async function readRanges(
  client: EtcdClient,
  request: BackendRangeRequest,
  call: CallOptions,
): Promise<BackendRangeResponse> {
  for (let tries = 1; ; tries++) {
    try {
      return await readAll(client, request, call);
    } catch (error) {
      const isOvertaken = (request.revision ?? 0) === 0 && error instanceof EtcdRefusal && error.is('compacted');
      if (!isOvertaken) throw error;
      if (tries < TRIES_MAX) continue;
      const reason = `it was compacted ${tries} times while ${request.ranges.length} ranges were read`;
      throw new BackendError(call.action, reason, { cause: error });
    }
  }
}

async function readAll(
  client: EtcdClient,
  request: BackendRangeRequest,
  call: CallOptions,
): Promise<BackendRangeResponse> {
  const { ranges, revision = 0, limit = 0 } = request;
  const [first = [], ...others] = chunksOf(ranges);
  let all = await readChunk(client, request, { ranges: first, revision }, call);
  for (const chunk of others) {
    const next = await readChunk(client, request, { ranges: chunk, revision: all.revision }, call);
    if (next.identity !== all.identity) {
      throw new BackendError(call.action, `its members are of two clusters, ${all.identity} and ${next.identity}`);
    }
    all = { ...all, count: all.count + next.count, kvs: [...all.kvs, ...next.kvs] };
  }
  return limit > 0 ? { ...all, kvs: all.kvs.slice(0, limit) } : all;
}

function readChunk(
  client: EtcdClient,
  { minModRevision = 0, limit = 0, keysOnly = false, countOnly = false }: BackendRangeRequest,
  { ranges, revision }: { readonly ranges: readonly ByteRange[]; readonly revision: Revision },
  call: CallOptions,
): Promise<BackendRangeResponse> {
  const selection = { minModRevision, limit, keysOnly, countOnly };
  const success = ranges.map((range) => ({ request_range: wireSelection(range, revision, selection) }));
  return client.call('kv/txn', { success }, call, (answer, position) => {
    const responses = listOf(answer.responses, 'the responses');
    if (responses.length !== ranges.length) {
      throw new Unreadable(`${responses.length} responses to ${ranges.length} ranges`);
    }
    let count = 0;
    const kvs: BackendKeyValue[] = [];
    for (const response of responses) {
      const told = objectOf(objectOf(response, 'a response').response_range, 'the response to a range');
      count += integerOf(told.count, 'a count');
      for (const row of listOf(told.kvs, 'the rows')) kvs.push(rowOf(row));
    }
    return { identity: position.identity, revision: revision > 0 ? revision : position.revision, count, kvs };
  });
}

function chunksOf(ranges: readonly ByteRange[]): readonly (readonly ByteRange[])[] {
  const chunks: (readonly ByteRange[])[] = [];
  for (let start = 0; start < ranges.length; start += OPERATIONS_MAX) {
    chunks.push(ranges.slice(start, start + OPERATIONS_MAX));
  }
  return chunks;
}
