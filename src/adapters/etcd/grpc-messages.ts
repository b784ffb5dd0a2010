import type { Method } from '../../backends/etcd/transport.ts';

/**
 * etcd's API as protobuf has it: methods, and of their messages the fields that are used here, by number. Names are those of the
 * gateway. What a message has besides is skipped when it is read.
 */
export interface GrpcMethod {
  readonly path: string;
  readonly request: string;
  readonly answer: string;
}

const method = (service: string, name: string, message: string = name): GrpcMethod => ({
  path: `/etcdserverpb.${service}/${name}`,
  request: `${message}Request`,
  answer: `${message}Response`,
});

export const GRPC_METHODS: Readonly<Record<Method, GrpcMethod>> = {
  'auth/authenticate': method('Auth', 'Authenticate'),
  'kv/compaction': method('KV', 'Compact', 'Compaction'),
  'kv/range': method('KV', 'Range'),
  'kv/txn': method('KV', 'Txn'),
  'lease/grant': method('Lease', 'LeaseGrant'),
  'lease/keepalive': method('Lease', 'LeaseKeepAlive'),
  'lease/leases': method('Lease', 'LeaseLeases'),
  'lease/revoke': method('Lease', 'LeaseRevoke'),
  'lease/timetolive': method('Lease', 'LeaseTimeToLive'),
  'maintenance/status': method('Maintenance', 'Status'),
  watch: method('Watch', 'Watch'),
};

/** `[number, type]`, and `[]` behind the type for a list. */
type Fields = Readonly<Record<string, readonly [number, string]>>;

const HEADER = { header: [1, 'Header'] } as const;
const KEY_RANGE = { key: [1, 'bytes'], range_end: [2, 'bytes'] } as const;
const LEASE = { ...HEADER, ID: [2, 'int64'], TTL: [3, 'int64'] } as const;

const MESSAGES: Readonly<Record<string, Fields>> = {
  Header: { cluster_id: [1, 'uint64'], revision: [3, 'int64'] },
  Row: {
    key: [1, 'bytes'],
    create_revision: [2, 'int64'],
    mod_revision: [3, 'int64'],
    version: [4, 'int64'],
    value: [5, 'bytes'],
    lease: [6, 'int64'],
  },
  Event: { type: [1, 'EventType'], kv: [2, 'Row'] },
  AuthenticateRequest: { name: [1, 'string'], password: [2, 'string'] },
  AuthenticateResponse: { ...HEADER, token: [2, 'string'] },
  CompactionRequest: { revision: [1, 'int64'] },
  CompactionResponse: HEADER,
  RangeRequest: {
    ...KEY_RANGE,
    limit: [3, 'int64'],
    revision: [4, 'int64'],
    sort_order: [5, 'SortOrder'],
    sort_target: [6, 'SortTarget'],
    keys_only: [8, 'bool'],
    count_only: [9, 'bool'],
    min_mod_revision: [10, 'int64'],
    max_mod_revision: [11, 'int64'],
    min_create_revision: [12, 'int64'],
    max_create_revision: [13, 'int64'],
  },
  RangeResponse: { ...HEADER, kvs: [2, 'Row[]'], more: [3, 'bool'], count: [4, 'int64'] },
  PutRequest: {
    key: [1, 'bytes'],
    value: [2, 'bytes'],
    lease: [3, 'int64'],
    prev_kv: [4, 'bool'],
    ignore_value: [5, 'bool'],
    ignore_lease: [6, 'bool'],
  },
  PutResponse: { ...HEADER, prev_kv: [2, 'Row'] },
  DeleteRangeRequest: { ...KEY_RANGE, prev_kv: [3, 'bool'] },
  DeleteRangeResponse: { ...HEADER, deleted: [2, 'int64'], prev_kvs: [3, 'Row[]'] },
  Compare: {
    result: [1, 'CompareResult'],
    target: [2, 'CompareTarget'],
    key: [3, 'bytes'],
    version: [4, 'int64'],
    create_revision: [5, 'int64'],
    mod_revision: [6, 'int64'],
    value: [7, 'bytes'],
    lease: [8, 'int64'],
    range_end: [64, 'bytes'],
  },
  Request: {
    request_range: [1, 'RangeRequest'],
    request_put: [2, 'PutRequest'],
    request_delete_range: [3, 'DeleteRangeRequest'],
    request_txn: [4, 'TxnRequest'],
  },
  Response: {
    response_range: [1, 'RangeResponse'],
    response_put: [2, 'PutResponse'],
    response_delete_range: [3, 'DeleteRangeResponse'],
    response_txn: [4, 'TxnResponse'],
  },
  TxnRequest: { compare: [1, 'Compare[]'], success: [2, 'Request[]'], failure: [3, 'Request[]'] },
  TxnResponse: { ...HEADER, succeeded: [2, 'bool'], responses: [3, 'Response[]'] },
  WatchCreateRequest: { ...KEY_RANGE, start_revision: [3, 'int64'], fragment: [8, 'bool'] },
  WatchProgressRequest: {},
  WatchRequest: { create_request: [1, 'WatchCreateRequest'], progress_request: [3, 'WatchProgressRequest'] },
  WatchResponse: {
    ...HEADER,
    created: [3, 'bool'],
    canceled: [4, 'bool'],
    compact_revision: [5, 'int64'],
    cancel_reason: [6, 'string'],
    fragment: [7, 'bool'],
    events: [11, 'Event[]'],
  },
  LeaseGrantRequest: { TTL: [1, 'int64'], ID: [2, 'int64'] },
  LeaseGrantResponse: LEASE,
  LeaseRevokeRequest: { ID: [1, 'int64'] },
  LeaseRevokeResponse: HEADER,
  LeaseKeepAliveRequest: { ID: [1, 'int64'] },
  LeaseKeepAliveResponse: LEASE,
  LeaseTimeToLiveRequest: { ID: [1, 'int64'], keys: [2, 'bool'] },
  LeaseTimeToLiveResponse: { ...LEASE, grantedTTL: [4, 'int64'], keys: [5, 'bytes[]'] },
  LeaseStatus: { ID: [1, 'int64'] },
  LeaseLeasesRequest: {},
  LeaseLeasesResponse: { ...HEADER, leases: [2, 'LeaseStatus[]'] },
  StatusRequest: {},
  StatusResponse: { ...HEADER, version: [2, 'string'] },
};

const ENUMS: Readonly<Record<string, readonly string[]>> = {
  EventType: ['PUT', 'DELETE'],
  SortOrder: ['NONE', 'ASCEND', 'DESCEND'],
  SortTarget: ['KEY', 'VERSION', 'CREATE', 'MOD', 'VALUE'],
  CompareResult: ['EQUAL', 'GREATER', 'LESS', 'NOT_EQUAL'],
  CompareTarget: ['VERSION', 'CREATE', 'MOD', 'VALUE', 'LEASE'],
};

/** One of these is there, and is sent though it is 0 or empty. */
const ONEOFS: Readonly<Record<string, readonly string[]>> = {
  Compare: ['version', 'create_revision', 'mod_revision', 'value', 'lease'],
};

/** The same in the form that protobufjs reads. */
export function grpcDescriptor(): object {
  const messages = Object.entries(MESSAGES).map(([name, fields]) => [
    name,
    { fields: described(fields), oneofs: name in ONEOFS ? { one: { oneof: ONEOFS[name] } } : {} },
  ]);
  const enums = Object.entries(ENUMS).map(([name, names]) => [
    name,
    { values: Object.fromEntries(names.map((one, number) => [one, number])) },
  ]);
  return { nested: Object.fromEntries([...messages, ...enums]) };
}

function described(fields: Fields): object {
  const entries = Object.entries(fields).map(([name, [id, type]]) => {
    const isList = type.endsWith('[]');
    return [name, isList ? { id, type: type.slice(0, -2), rule: 'repeated' } : { id, type }];
  });
  return Object.fromEntries(entries);
}
