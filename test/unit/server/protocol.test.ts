import { describe, expect, it } from 'vitest';
import { CONFIG_MAPS, createAll, PODS, withServer } from './rig.ts';

/** What one request comes to, on a server that has pods a (app=web), b and c (with a finalizer), at resource version 4. */
interface Row {
  readonly title: string;
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  /** A body as it is. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly answer?: unknown;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const THING = { group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things', status: true } as const;
const THINGS = '/apis/example.com/v1/namespaces/ns1/things';

const reads: readonly Row[] = [
  {
    title: 'get',
    path: `${PODS}/a`,
    status: 200,
    answer: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', resourceVersion: '2' } },
  },
  {
    title: 'get what is not there',
    path: `${PODS}/z`,
    status: 404,
    answer: {
      kind: 'Status',
      status: 'Failure',
      reason: 'NotFound',
      message: 'pods "z" not found',
      details: { name: 'z', kind: 'pods' },
      code: 404,
    },
  },
  {
    title: 'get not older than the future',
    path: `${PODS}/a?resourceVersion=x`,
    status: 400,
    answer: { reason: 'BadRequest' },
  },
  {
    title: 'list',
    path: PODS,
    status: 200,
    answer: { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '4' } },
  },
  {
    title: 'list across namespaces',
    path: '/api/v1/pods?limit=1',
    status: 200,
    answer: { metadata: { resourceVersion: '4', remainingItemCount: 2 } },
  },
  {
    title: 'list of a namespace without any',
    path: '/api/v1/namespaces/ns11/pods',
    status: 200,
    answer: { items: [] },
  },
  { title: 'limit that is none', path: `${PODS}?limit=x`, status: 400, answer: { reason: 'BadRequest' } },
  { title: 'continue that is none', path: `${PODS}?continue=x`, status: 400, answer: { reason: 'BadRequest' } },
  {
    title: 'resourceVersion that is none',
    path: `${PODS}?resourceVersion=x`,
    status: 400,
    answer: { reason: 'BadRequest' },
  },
  {
    title: 'match without version',
    path: `${PODS}?resourceVersionMatch=Exact`,
    status: 422,
    answer: {
      reason: 'Invalid',
      details: { causes: [{ reason: 'FieldValueForbidden', field: 'resourceVersionMatch' }] },
    },
  },
  {
    title: 'match with continue',
    path: `${PODS}?resourceVersionMatch=Exact&resourceVersion=1&continue=x`,
    status: 422,
    answer: {},
  },
  { title: 'Exact 0', path: `${PODS}?resourceVersionMatch=Exact&resourceVersion=0`, status: 422, answer: {} },
  { title: 'unknown match', path: `${PODS}?resourceVersionMatch=Most&resourceVersion=1`, status: 422, answer: {} },
  { title: 'sendInitialEvents of a list', path: `${PODS}?sendInitialEvents=true`, status: 422, answer: {} },
  {
    title: 'sendInitialEvents without a match',
    path: `${PODS}?watch=1&sendInitialEvents=true`,
    status: 422,
    answer: { reason: 'Invalid' },
  },
  {
    title: 'match of a watch',
    path: `${PODS}?watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1`,
    status: 422,
    answer: {},
  },
  {
    title: 'initial events with continue',
    path: `${PODS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x`,
    status: 422,
    answer: {},
  },
  {
    title: 'Exact of old state',
    path: `${PODS}?resourceVersion=2&resourceVersionMatch=Exact`,
    status: 200,
    answer: { metadata: { resourceVersion: '2' }, items: [{ metadata: { name: 'a' } }] },
  },
  {
    title: 'label selector',
    path: `${PODS}?labelSelector=app%3Dweb`,
    status: 200,
    answer: { items: [{ metadata: { name: 'a' } }] },
  },
  {
    title: 'label selector that is none',
    path: `${PODS}?labelSelector=a%20in`,
    status: 400,
    answer: { reason: 'BadRequest' },
  },
  {
    title: 'field selector',
    path: `${PODS}?fieldSelector=metadata.name!%3Da,metadata.name!%3Db`,
    status: 200,
    answer: { items: [{ metadata: { name: 'c' } }] },
  },
  {
    title: 'field that cannot be selected by',
    path: `${PODS}?fieldSelector=spec.x%3Da`,
    status: 400,
    answer: { message: 'field label not supported: spec.x' },
  },
  {
    title: 'a table or an object',
    path: `${PODS}/a`,
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
    status: 200,
    answer: { kind: 'Pod' },
  },
  {
    title: 'a table alone',
    path: `${PODS}/a`,
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    status: 406,
    answer: { reason: 'NotAcceptable' },
  },
  {
    title: 'protobuf alone',
    path: `${PODS}/a`,
    headers: { accept: 'application/vnd.kubernetes.protobuf' },
    status: 406,
    answer: {},
  },
  {
    title: 'protobuf or JSON',
    path: `${PODS}/a`,
    headers: { accept: 'application/vnd.kubernetes.protobuf,application/json' },
    status: 200,
    answer: {},
  },
  {
    title: 'metadata alone',
    path: `${PODS}/a`,
    headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' },
    status: 200,
    answer: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } },
  },
  {
    title: 'lists of metadata alone',
    path: PODS,
    headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
    status: 200,
    answer: { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' },
  },
];

/** Kubernetes' own reading of flags: only what is not there, 0 and false are false. */
const flags: readonly Row[] = ['watch', 'watch=', 'watch=yes', 'watch=1'].map((query) => ({
  title: `a flag that is set: ${query}`,
  path: `${PODS}?${query}&resourceVersionMatch=Exact`,
  status: 422,
  answer: { message: expect.stringContaining('is forbidden for watch') },
}));
const unset: readonly Row[] = ['watch=0', 'watch=false', 'watch=False'].map((query) => ({
  title: `a flag that is not set: ${query}`,
  path: `${PODS}?${query}`,
  status: 200,
  answer: { kind: 'PodList' },
}));

const DEEP = '['.repeat(100_000) + ']'.repeat(100_000);
const HOSTILE = { toString: 1 };
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';

/** Bodies that are none, or more than there is room for: never a failure of the server. */
const hostile: readonly Row[] = [
  ...(['', '?dryRun=All'] as const).flatMap((query): readonly Row[] => [
    { title: `metadata null ${query}`, method: 'POST', path: PODS + query, body: { metadata: null }, status: 422 },
    {
      title: `a name null ${query}`,
      method: 'POST',
      path: PODS + query,
      body: { metadata: { name: null, generateName: null } },
      status: 422,
      answer: { details: { causes: [{ field: 'metadata.name' }] } },
    },
    {
      title: `a name, and the rest null ${query}`,
      method: 'POST',
      path: PODS + query,
      body: {
        kind: null,
        apiVersion: '',
        metadata: { name: 'd', generateName: null, resourceVersion: null, labels: null },
      },
      status: 201,
      answer: { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'd' } },
    },
    {
      title: `a version at creation ${query}`,
      method: 'POST',
      path: PODS + query,
      body: { metadata: { name: 'd', resourceVersion: '1' } },
      status: 400,
    },
    {
      title: `half of a surrogate pair ${query}`,
      method: 'POST',
      path: PODS + query,
      body: { metadata: { name: 'd' }, spec: '\ud800' },
      status: 400,
    },
    {
      title: `an object too large for the store ${query}`,
      method: 'POST',
      path: PODS + query,
      body: { metadata: { name: 'd' }, spec: 'x'.repeat(2_000_000) },
      status: 413,
    },
    {
      title: `an update to what is too large ${query}`,
      method: 'PUT',
      path: `${PODS}/a${query}`,
      body: { metadata: { name: 'a' }, spec: 'x'.repeat(2_000_000) },
      status: 413,
    },
    {
      title: `copies of copies ${query}`,
      method: 'PATCH',
      path: `${PODS}/a${query}`,
      body: Array.from({ length: 40 }, (_, index) => ({ op: 'copy', from: '', path: `/x${index}` })),
      headers: { 'content-type': JSON_PATCH },
      status: 413,
    },
    {
      title: `copies below copies ${query}`,
      method: 'PATCH',
      path: `${PODS}/a${query}`,
      body: Array.from({ length: 16 }, (_, index) => ({ op: 'copy', from: '', path: '/x'.repeat(2 ** index) })),
      headers: { 'content-type': JSON_PATCH },
      status: 422,
    },
    ...[MERGE, STRATEGIC].map(
      (type): Row => ({
        title: `a deep patch ${type} ${query}`,
        method: 'PATCH',
        path: `${PODS}/a${query}`,
        text: `{"spec":${DEEP}}`,
        headers: { 'content-type': type },
        status: 400,
      }),
    ),
    { title: `a deep object ${query}`, method: 'POST', path: PODS + query, text: DEEP, status: 400 },
  ]),
  { title: 'hostile kind', method: 'POST', path: PODS, body: { kind: HOSTILE, metadata: { name: 'd' } }, status: 400 },
  {
    title: 'hostile version',
    method: 'POST',
    path: PODS,
    body: { apiVersion: HOSTILE, metadata: { name: 'd' } },
    status: 400,
  },
  { title: 'hostile kind of options', method: 'DELETE', path: `${PODS}/a`, body: { kind: HOSTILE }, status: 400 },
  { title: 'a deep deletion', method: 'DELETE', path: `${PODS}/a`, text: DEEP, status: 400 },
  { title: 'a trial as text', method: 'DELETE', path: `${PODS}/a`, body: { dryRun: 'All' }, status: 400 },
  {
    title: 'options of nothing',
    method: 'DELETE',
    path: `${PODS}/a`,
    body: { kind: null, preconditions: null, dryRun: null, propagationPolicy: null },
    status: 200,
    answer: { status: 'Success' },
  },
  { title: 'a nameless update', method: 'PUT', path: `${PODS}/a`, body: { spec: 1 }, status: 400 },
  {
    title: 'a namespace that none can have',
    method: 'POST',
    path: '/api/v1/namespaces/Ns_1/pods',
    body: { metadata: { name: 'd' } },
    status: 422,
    answer: { details: { causes: [{ field: 'metadata.namespace' }] } },
  },
  {
    title: 'a namespace of an object of the cluster',
    method: 'POST',
    path: '/api/v1/nodes',
    body: { metadata: { name: 'n', namespace: 'ns1' } },
    status: 201,
    answer: { metadata: expect.not.objectContaining({ namespace: 'ns1' }) },
  },
  // What a body is counts before what is in it.
  ...[
    ['POST', PODS],
    ['PUT', `${PODS}/a`],
    ['PATCH', `${PODS}/a`],
    ['DELETE', `${PODS}/a`],
    ['DELETE', PODS],
  ].map(
    ([method = '', path = '']): Row => ({
      title: `${method} ${path} of YAML`,
      method,
      path,
      text: 'metadata: {}',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      status: 415,
    }),
  ),
  {
    title: 'a deletion of an empty body of any type',
    method: 'DELETE',
    path: `${PODS}/a`,
    text: '',
    headers: { 'content-type': 'application/yaml' },
    status: 200,
  },
  {
    title: 'delete a page',
    method: 'DELETE',
    path: `${PODS}?limit=1`,
    status: 200,
    answer: { items: [{ metadata: { name: 'a' } }], metadata: { remainingItemCount: 2 } },
  },
  { title: 'delete with a limit that is none', method: 'DELETE', path: `${PODS}?limit=x`, status: 400 },
];

const writes: readonly Row[] = [
  {
    title: 'create',
    method: 'POST',
    path: PODS,
    body: { metadata: { name: 'd' } },
    status: 201,
    answer: {
      kind: 'Pod',
      metadata: {
        name: 'd',
        namespace: 'ns1',
        generation: 1,
        resourceVersion: '5',
        creationTimestamp: '2026-01-02T03:04:05Z',
      },
    },
  },
  {
    title: 'create what is there',
    method: 'POST',
    path: PODS,
    body: { metadata: { name: 'a' } },
    status: 409,
    answer: { reason: 'AlreadyExists', message: 'pods "a" already exists', details: { name: 'a', kind: 'pods' } },
  },
  {
    title: 'create with a version',
    method: 'POST',
    path: PODS,
    body: { metadata: { name: 'd', resourceVersion: '1' } },
    status: 400,
    answer: { reason: 'BadRequest' },
  },
  {
    title: 'create without a name',
    method: 'POST',
    path: PODS,
    body: {},
    status: 422,
    answer: { reason: 'Invalid', details: { causes: [{ reason: 'FieldValueRequired', field: 'metadata.name' }] } },
  },
  {
    title: 'create with a name that is none',
    method: 'POST',
    path: PODS,
    body: { metadata: { name: 'A/b' } },
    status: 422,
    answer: { reason: 'Invalid' },
  },
  {
    title: 'create in another namespace',
    method: 'POST',
    path: PODS,
    body: { metadata: { name: 'd', namespace: 'ns2' } },
    status: 400,
    answer: { reason: 'BadRequest' },
  },
  {
    title: 'create across namespaces',
    method: 'POST',
    path: '/api/v1/pods',
    body: { metadata: { name: 'd' } },
    status: 405,
    answer: { reason: 'MethodNotAllowed' },
  },
  {
    title: 'create at a name',
    method: 'POST',
    path: `${PODS}/d`,
    body: { metadata: { name: 'd' } },
    status: 405,
    answer: {},
  },
  {
    title: 'create another kind',
    method: 'POST',
    path: PODS,
    body: { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'd' } },
    status: 400,
    answer: {},
  },
  { title: 'create nothing', method: 'POST', path: PODS, status: 400, answer: {} },
  {
    title: 'create with labels that are none',
    method: 'POST',
    path: PODS,
    body: { metadata: { name: 'd', labels: { a: 1 } } },
    status: 400,
    answer: {},
  },
  {
    title: 'create with finalizers that are none',
    method: 'POST',
    path: PODS,
    body: { metadata: { name: 'd', finalizers: [1] } },
    status: 400,
    answer: {},
  },
  {
    title: 'create as protobuf',
    method: 'POST',
    path: PODS,
    body: {},
    headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
    status: 415,
    answer: { reason: 'UnsupportedMediaType' },
  },
  {
    title: 'create as a trial',
    method: 'POST',
    path: `${PODS}?dryRun=All`,
    body: { metadata: { name: 'd' } },
    status: 201,
    answer: { metadata: { name: 'd' } },
  },
  {
    title: 'trial of what is there',
    method: 'POST',
    path: `${PODS}?dryRun=All`,
    body: { metadata: { name: 'a' } },
    status: 409,
    answer: {},
  },
  {
    title: 'half a trial',
    method: 'POST',
    path: `${PODS}?dryRun=Some`,
    body: { metadata: { name: 'd' } },
    status: 422,
    answer: {},
  },
  {
    title: 'update',
    method: 'PUT',
    path: `${PODS}/a`,
    body: { metadata: { name: 'a' }, spec: { x: 1 } },
    status: 200,
    answer: { metadata: { generation: 2, resourceVersion: '5' }, spec: { x: 1 } },
  },
  {
    title: 'update from an old state',
    method: 'PUT',
    path: `${PODS}/a`,
    body: { metadata: { name: 'a', resourceVersion: '1' } },
    status: 409,
    answer: { reason: 'Conflict', details: { name: 'a', kind: 'pods' } },
  },
  {
    title: 'update of another object',
    method: 'PUT',
    path: `${PODS}/a`,
    body: { metadata: { name: 'a', uid: 'x' } },
    status: 409,
    answer: { reason: 'Conflict' },
  },
  {
    title: 'update of what is not there',
    method: 'PUT',
    path: `${PODS}/z`,
    body: { metadata: { name: 'z' } },
    status: 404,
    answer: { reason: 'NotFound' },
  },
  {
    title: 'update of another name',
    method: 'PUT',
    path: `${PODS}/a`,
    body: { metadata: { name: 'b' } },
    status: 400,
    answer: {},
  },
  { title: 'update of a collection', method: 'PUT', path: PODS, body: {}, status: 405, answer: {} },
  {
    title: 'merge patch',
    method: 'PATCH',
    path: `${PODS}/a`,
    body: { spec: { x: 1 } },
    headers: { 'content-type': 'application/merge-patch+json' },
    status: 200,
    answer: { spec: { x: 1 }, metadata: { labels: { app: 'web' } } },
  },
  {
    title: 'merge patch of a version',
    method: 'PATCH',
    path: `${PODS}/a`,
    body: { metadata: { resourceVersion: '1' } },
    headers: { 'content-type': 'application/merge-patch+json' },
    status: 409,
    answer: { reason: 'Conflict' },
  },
  {
    title: 'JSON patch',
    method: 'PATCH',
    path: `${PODS}/a`,
    body: [{ op: 'add', path: '/spec', value: 1 }],
    headers: { 'content-type': 'application/json-patch+json' },
    status: 200,
    answer: { spec: 1 },
  },
  {
    title: 'JSON patch that does not fit',
    method: 'PATCH',
    path: `${PODS}/a`,
    body: [{ op: 'remove', path: '/spec' }],
    headers: { 'content-type': 'application/json-patch+json' },
    status: 422,
    answer: { reason: 'Invalid' },
  },
  {
    title: 'JSON patch that is none',
    method: 'PATCH',
    path: `${PODS}/a`,
    body: [{ op: 'x', path: '/spec' }],
    headers: { 'content-type': 'application/json-patch+json' },
    status: 400,
    answer: {},
  },
  {
    title: 'JSON patch that is an object',
    method: 'PATCH',
    path: `${PODS}/a`,
    body: {},
    headers: { 'content-type': 'application/json-patch+json' },
    status: 400,
    answer: {},
  },
  {
    title: 'strategic merge patch',
    method: 'PATCH',
    path: `${PODS}/a`,
    body: { spec: { $patch: 'replace', x: 1 } },
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    status: 200,
    answer: { spec: { x: 1 } },
  },
  {
    title: 'strategic merge patch of a custom resource',
    method: 'PATCH',
    path: `${THINGS}/t`,
    body: {},
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    status: 415,
    answer: {},
  },
  {
    title: 'server-side apply',
    method: 'PATCH',
    path: `${PODS}/a`,
    body: {},
    headers: { 'content-type': 'application/apply-patch+yaml' },
    status: 415,
    answer: { reason: 'UnsupportedMediaType' },
  },
  {
    title: 'update of a custom resource without a version',
    method: 'PUT',
    path: `${THINGS}/t`,
    body: { metadata: { name: 't' } },
    status: 422,
    answer: { details: { causes: [{ field: 'metadata.resourceVersion' }] } },
  },
  {
    title: 'delete',
    method: 'DELETE',
    path: `${PODS}/a`,
    status: 200,
    answer: { kind: 'Status', status: 'Success', details: { name: 'a', kind: 'pods' } },
  },
  {
    title: 'delete what has a finalizer',
    method: 'DELETE',
    path: `${PODS}/c`,
    status: 200,
    answer: {
      kind: 'Pod',
      metadata: {
        deletionTimestamp: '2026-01-02T03:04:05Z',
        deletionGracePeriodSeconds: 0,
        generation: 2,
        finalizers: ['f'],
      },
    },
  },
  {
    title: 'delete what is not there',
    method: 'DELETE',
    path: `${PODS}/z`,
    status: 404,
    answer: { reason: 'NotFound', details: { name: 'z', kind: 'pods' } },
  },
  {
    title: 'delete another uid',
    method: 'DELETE',
    path: `${PODS}/a`,
    body: { preconditions: { uid: 'x' } },
    status: 409,
    answer: { reason: 'Conflict' },
  },
  {
    title: 'delete another version',
    method: 'DELETE',
    path: `${PODS}/a`,
    body: { preconditions: { resourceVersion: '1' } },
    status: 409,
    answer: { reason: 'Conflict' },
  },
  {
    title: 'delete this version',
    method: 'DELETE',
    path: `${PODS}/a`,
    body: { kind: 'DeleteOptions', preconditions: { resourceVersion: '2' } },
    status: 200,
    answer: { status: 'Success' },
  },
  {
    title: 'delete with another policy',
    method: 'DELETE',
    path: `${PODS}/a?propagationPolicy=Foreground`,
    status: 200,
    answer: { metadata: { finalizers: ['foregroundDeletion'] } },
  },
  {
    title: 'delete with a policy that is none',
    method: 'DELETE',
    path: `${PODS}/a?propagationPolicy=All`,
    status: 422,
    answer: {},
  },
  {
    title: 'delete with options that are none',
    method: 'DELETE',
    path: `${PODS}/a`,
    body: { kind: 'Pod' },
    status: 400,
    answer: {},
  },
  { title: 'delete a status', method: 'DELETE', path: `${PODS}/a/status`, status: 405, answer: {} },
  {
    title: 'delete as a trial',
    method: 'DELETE',
    path: `${PODS}/a?dryRun=All`,
    status: 200,
    answer: { status: 'Success' },
  },
  {
    title: 'delete all',
    method: 'DELETE',
    path: `${PODS}?labelSelector=app`,
    status: 200,
    answer: { kind: 'PodList', items: [{ metadata: { name: 'a' } }] },
  },
  { title: 'delete all across namespaces', method: 'DELETE', path: '/api/v1/pods', status: 405, answer: {} },
  {
    title: 'a method that is none',
    method: 'OPTIONS',
    path: PODS,
    status: 405,
    answer: { reason: 'MethodNotAllowed' },
  },
  { title: 'a path that is no text', path: '/api/v1/%ff', status: 400, answer: { reason: 'BadRequest' } },
];

describe('a namespace', () => {
  it('is an object of the cluster, with a status, and objects in it', async () => {
    await withServer(async ({ server }) => {
      const made = await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'ns1' } });
      expect([made.status, made.body.metadata.namespace]).toEqual([201, undefined]);
      const status = await server.call('PATCH', '/api/v1/namespaces/ns1/status', { status: { phase: 'Active' } });
      expect(status.body).toMatchObject({ kind: 'Namespace', status: { phase: 'Active' } });
      await createAll(server, PODS, ['status']);
      expect((await server.call('GET', `${PODS}/status`)).body.kind).toBe('Pod');
      expect((await server.call('GET', '/api/v1/namespaces')).body.items).toHaveLength(1);
      expect((await server.call('DELETE', '/api/v1/namespaces/ns1')).body.status).toBe('Success');
      // Nobody empties it.
      expect((await server.call('GET', PODS)).body.items).toHaveLength(1);
    });
  });
});

describe('a request and its answer', () => {
  it.each([...reads, ...flags, ...unset, ...writes, ...hostile])('$title', async (row) => {
    const { method = 'GET', path, body, headers, status, answer } = row;
    await withServer(async ({ server }) => {
      server.register(THING);
      await server.call('POST', PODS, { metadata: { name: 'a', labels: { app: 'web' } } });
      await server.call('POST', PODS, { metadata: { name: 'b' } });
      await server.call('POST', PODS, { metadata: { name: 'c', finalizers: ['f'] } });
      const given = row.text ?? (body === undefined ? undefined : JSON.stringify(body));
      const sent = given === undefined ? {} : { body: given };
      const type = given === undefined ? {} : JSON_TYPE;
      const response = await server.fetch(path, { method, ...sent, headers: { ...type, ...headers } });
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toBe('application/json');
      const text = await response.text();
      expect(JSON.parse(text)).toMatchObject(answer ?? {});
      const { items = [] } = (await server.call('GET', PODS)).body;
      if (path.includes('dryRun=All'))
        expect(items.map(({ metadata }) => metadata?.resourceVersion)).toEqual(['2', '3', '4']);
      if (status >= 400) expect(JSON.parse(text)).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
    });
  });

  it.each([
    ['a group that is not there', '/apis/example.org/v1/things'],
    ['a version that is not there', '/apis/apps/v2/deployments'],
    ['a kind that is not there', '/api/v1/things'],
    ['a subresource that is not there', `${PODS}/a/log`],
    ['a status that is none', `${CONFIG_MAPS}/a/status`],
    ['an object of a namespace without one', '/api/v1/pods/a'],
    ['an object of the cluster in a namespace', '/api/v1/namespaces/ns1/nodes/a'],
    ['discovery of what is not there', '/apis/example.org'],
    ['too long a discovery', '/apis/apps/v1beta9'],
    ['nothing known', '/metrics'],
  ])('404 as text for %s', async (_title, path) => {
    await withServer(async ({ server }) => {
      await createAll(server, PODS, ['a']);
      const response = await server.fetch(path);
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/plain']);
      expect(await response.text()).toBe('404 page not found\n');
    });
  });

  it('a body that is too long, no UTF-8, or no JSON is refused', async () => {
    await withServer(async ({ server }) => {
      const post = async (body: BodyInit) =>
        (await server.fetch(PODS, { method: 'POST', body, headers: JSON_TYPE })).status;
      const fill = (length: number) => JSON.stringify({ metadata: { name: 'x' }, spec: 'x'.repeat(length) });
      const room = 3 * 1024 * 1024 - fill(0).length;
      expect(await post(fill(room + 1))).toBe(413);
      expect(await post(fill(1000))).toBe(201);
      expect(await post(new Uint8Array([0x22, 0xff, 0x22]))).toBe(400);
      expect(await post(new Uint8Array([0x22, 0xc3]))).toBe(400);
      expect(await post('{')).toBe(400);
    });
  });

  it('a version too far ahead is 504 after the wait of the storage, and says when to come again', async () => {
    await withServer(async ({ server, clock }) => {
      const response = server.fetch(`${PODS}?resourceVersion=99`);
      await clock.advance(3000);
      const late = await response;
      expect([late.status, late.headers.get('retry-after')]).toEqual([504, '1']);
      expect(await late.json()).toMatchObject({
        reason: 'Timeout',
        details: { retryAfterSeconds: 1, causes: [{ reason: 'ResourceVersionTooLarge' }] },
      });
    });
  });
});
